extension RetryError {
    /// A request that no attempt can be made with, for its URL is wrong for example: it ends as one that failed at once.
    package init(refused error: any Error, priority: RetryPriority) {
        let attempt = RetryAttempt(1, .zero, .zero, error)
        self.init(ending: .notRetryable, target: .network(isRepeatable: false, priority: priority), attempts: [attempt])
    }
}
