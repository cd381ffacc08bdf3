import NIOCore

/// Makes connections: a seam, for the loops of tests have time of their own.
protocol HTTPConnecting: Sendable {
    /// Where the next request runs.
    func nextLoop() -> any EventLoop

    /// A connection to a name or an address, whose channels are given to `prepare` on the loop before they are used.
    func connect(
        to target: FlightTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel>
}
