extension ManualClock {
    /// Lets time pass, and runs what is due on the way, each at its own time, and waits for it without blocking a thread
    /// of the caller's.
    public func advance(by duration: Duration) async {
        await onOwnThread { self.advance(by: duration) }
    }

    /// Lets the machine sleep: only the boot clock goes on, no action becomes due, and who watches for sleep is told.
    /// Waits for it without blocking a thread of the caller's.
    public func sleep(for duration: Duration) async {
        await onOwnThread { self.sleep(for: duration) }
    }
}
