/// How an attempt ended.
struct AttemptEnd<Value: Sendable>: Sendable {
    let result: Result<Value, any Error>

    /// What cut it short, if it was not let run to its end.
    let cut: RetryError.Ending?
}
