//! Layered settings → one resolved configuration and a list of warnings.
