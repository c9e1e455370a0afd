//! May this call run? Rules, grants, and the pins that void them.
