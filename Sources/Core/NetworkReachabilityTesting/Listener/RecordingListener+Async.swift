extension RecordingListener {
    /// Waits until at least `count` values were heard or `timeout` has passed on the real clock, and says whether they
    /// were. No thread of the caller's is blocked: the cooperative threads of a small machine are few, and what is tested
    /// may need them.
    @discardableResult
    public func waitForCount(_ count: Int, timeout: Duration = .seconds(60)) async -> Bool {
        await onOwnThread { self.waitForCount(count, timeout: timeout) } ?? false
    }
}
