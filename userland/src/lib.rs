#![no_std]
//! Runtime library of user programs.
