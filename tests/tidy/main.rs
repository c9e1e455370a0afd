//! Rules of the house, read off the sources.
