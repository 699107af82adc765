//! Policy files, checked and turned into the bundle that a device loads.
