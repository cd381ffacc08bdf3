/// How a wait for a retry ended.
enum WaitEnd {
    /// The turn has come.
    case turn
    /// It has not, and will not.
    case ended(RetryError.Ending)
}
