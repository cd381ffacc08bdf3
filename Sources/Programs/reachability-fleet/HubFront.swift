#if Fleet
import CommandLineSupport
import Dispatch
import LinuxSupport
import NIOHTTP1
import ReachabilityFleetHub
import ReachabilityServer
import ReachabilityService

/// The server of a hub, which listens before there is anything to tell: a place that is taken is found out before anything is written.
struct HubFront {
    let server: WebServer
    private let access: Access
    private let api: Locked<HubAPI?>

    init(_ access: Access) {
        self.access = access
        let api = Locked<HubAPI?>(nil)
        // The disk is read on a queue of its own, and so is the state of ten thousand machines, so that no other request waits for either.
        let disk = RequestQueue("reachability.disk")
        let memory = RequestQueue("reachability.memory")
        let administration = RequestQueue("reachability.administration")
        var limits = WebLimits()
        limits.connections = max(16, min(limits.connections, ProcessUsage.raiseDescriptorLimit() - 64))
        // When a site falls all of its machines are told of at once.
        limits.streamBytes = 32 << 20
        server = WebServer(limits: limits, tls: { access.tls }) { request, done in
            guard let api = api.withLock(\.self) else {
                return done(Problem(.serviceUnavailable, "the hub is starting").answer(as: .json))
            }
            let queue =
                HubAPI.changesSomething(request) ? administration : HubAPI.readsDisk(request) ? disk : memory
            queue.add(request, { api.answer(to: request) }, done)
        }
        self.api = api
    }

    /// For a configuration that is read again.
    @Sendable func prepareAccess(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        let use = try access.prepare(configuration)
        return { [server] in if use() { server.endSecured() } }
    }

    func answer(
        _ keeper: HubKeeper,
        _ store: any HubStore,
        _ follower: BrokerFollower,
        _ feed: HubFeed,
        _ counts: HubCounts,
        _ reloader: Reloader?,
        notifiers: @escaping @Sendable () -> [NotifierStatus]
    ) {
        let version = CommandVersion.text.split(at: " ").last.map(String.init) ?? ""
        let made = HubAPI(
            keeper,
            store: store,
            follower: follower,
            feed: feed,
            counts: counts,
            version: version,
            access: access,
            reloader: reloader,
            notifiers: notifiers,
            statistics: { [weak server] in server?.statistics ?? WebStatistics() }
        )
        api.withLock { $0 = made }
    }
}
#endif
