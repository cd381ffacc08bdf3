import LinuxSupport

/// Says who made a change, and looks for them once: one change may begin the outages of many targets.
final class ActorFinder: Sendable {
    private let search: @Sendable (Removal) -> ActingProcess?
    private let last = Locked<(removal: Removal, process: ActingProcess?)?>(nil)

    init(_ search: @escaping @Sendable (Removal) -> ActingProcess?) {
        self.search = search
    }

    func process(behind removal: Removal) -> ActingProcess? {
        if let last = last.withLock(\.self), last.removal == removal { return last.process }
        let process = search(removal)
        last.withLock { $0 = (removal, process) }
        return process
    }
}
