import Logging

/// Lets every host that requests wait for have a runner of its own.
struct Dispatcher: Sendable {
    let store: OutboxStore
    let sender: any OutboxSender
    let reachability: OutboxReachability
    let report: @Sendable (OutboxEvent) -> Void

    private enum Event: Sendable {
        /// It is time to look for new hosts.
        case look
        case ended(host: String, HostRunner.End)
    }

    /// Works until the task is cancelled, which gives nil, or something fails.
    func run(_ bell: Bell) async -> OutboxError? {
        let (rings, ringer) = bell.listen()
        let (clock, pause) = (store.options.clock, store.options.pollInterval)
        let places = Places(store.options.maximumConcurrentHosts)
        return await withTaskGroup(of: Event.self) { group in
            // What other processes put in rings no bell.
            group.addTask {
                while !Task.isCancelled {
                    await clock.sleep(for: max(pause, .milliseconds(1)))
                    ringer.yield()
                }
                return .look
            }
            ringer.yield()
            addRing(rings, to: &group)
            var hosts: Set<String> = []
            var failure: OutboxError?
            while let event = await group.next() {
                switch event {
                case .look: break
                case .ended(let host, let end):
                    hosts.remove(host)
                    if case .failed(let error) = end { failure = failure ?? error }
                }
                do throws(OutboxError) {
                    if failure == nil, !Task.isCancelled { try await start(&group, &hosts, places) }
                } catch {
                    failure = error
                }
                if failure != nil { group.cancelAll() }
                if case .look = event, !Task.isCancelled, failure == nil { addRing(rings, to: &group) }
            }
            return failure
        }
    }

    /// Sends once what can be sent now.
    func flush() async -> OutboxError? {
        let places = Places(store.options.maximumConcurrentHosts)
        do throws(OutboxError) {
            try await reportExpired()
            let hosts = try await store.hosts()
            return await withTaskGroup(of: HostRunner.End.self) { group in
                for host in hosts {
                    group.addTask { await runner(host, places).flush() }
                }
                var failure: OutboxError?
                for await case .failed(let error) in group {
                    failure = failure ?? error
                    group.cancelAll()
                }
                return failure
            }
        } catch {
            return error
        }
    }

    private func start(
        _ group: inout TaskGroup<Event>,
        _ hosts: inout Set<String>,
        _ places: Places
    ) async throws(OutboxError) {
        try await reportExpired()
        for host in try await store.hosts() where hosts.insert(host).inserted {
            group.addTask { .ended(host: host, await runner(host, places).run()) }
        }
    }

    private func addRing(_ rings: AsyncStream<Void>, to group: inout TaskGroup<Event>) {
        group.addTask {
            for await _ in rings { break }
            return .look
        }
    }

    private func runner(_ host: String, _ places: Places) -> HostRunner {
        HostRunner(
            host: host,
            store: store,
            sender: sender,
            watch: HostWatch(changes: reachability.watch(host), clock: store.options.clock),
            places: places,
            report: report
        )
    }

    private func reportExpired() async throws(OutboxError) {
        for entry in try await store.dropExpired() {
            store.options.logger?.warning("expired", metadata: ["request": "\(entry)"])
            report(.expired(entry))
        }
    }
}
