import CLinux
import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport
@testable import Netlink

/// The filter in the real kernel, in a namespace: filtered messages do not arrive, and all others do.
@Suite(.enabled(if: TestNamespace.isPermitted)) struct RouteFilterKernelTests {
    /// A namespace with a listening socket. Routes use the loopback link, which only the tests change.
    private struct Stage {
        let namespace: LabNamespace
        let events: EventSocket

        init() throws {
            namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            events = try namespace.perform { try EventSocket() }
        }

        /// Joins the groups, and discards earlier messages.
        func join() throws {
            _ = try events.join()
            _ = events.drain()
        }

        func received(_ commands: [String]) throws -> EventBurst {
            try namespace.ip(commands)
            return events.drain()
        }

        /// Returns all events until one is about `subject`. Some events arrive later.
        func received(of subject: EventBurst.Subjects, after change: () throws -> Void) rethrows -> EventBurst {
            try change()
            var burst = events.drain()
            while !burst.subjects.contains(subject), events.wait(atMost: .seconds(30)) { burst.add(events.drain()) }
            return burst
        }
    }

    private static func watch(_ texts: String...) throws -> RouteFilter {
        RouteFilter(watching: try texts.map { AddressPrefix(host: try #require(WireAddress($0))) })
    }

    @Test func `only routes that cover a target are received`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.events.setFilter(try Self.watch("1.1.1.1", "10.77.0.10", "2606:4700:4700::1111", "fd77::10"))
            try stage.join()
            let passing = [
                "1.1.1.0/24", "1.1.1.1/32", "0.0.0.0/1", "1.0.0.0/8", "10.77.0.0/16", "10.77.0.10/32", "10.77.0.10/31",
                "2606:4700::/32", "2606:4700:4700::1111/128", "2606:4700:4700::/64", "2000::/3", "fd77::10/127",
                "fd77::/33", "fd77::/65", "fc00::/7", "8000::/1",
            ]
            let dropped = [
                "1.1.2.0/24", "2.0.0.0/8", "128.0.0.0/1", "10.78.0.0/16", "10.77.0.11/32", "10.77.0.8/31",
                "2606:4700:4700:1::/64", "2606:4701::/32", "fd77::11/128", "fd78::/64", "fd77::12/127", "4000::/2",
            ]
            for change in ["add", "del"] {
                for table in ["main", "7"] {
                    for route in passing {
                        let burst = try stage.received(["route \(change) \(route) dev lo table \(table)"])
                        #expect(burst.messages == 1, "\(change) \(route) \(table)")
                        #expect(burst.prefixes.list.map(\.description) == [route])
                    }
                    let burst = try stage.received(dropped.map { "route \(change) \($0) dev lo table \(table)" })
                    #expect(burst.isEmpty, "\(change): \(burst)")
                }
                for command in ["route \(change) default dev lo", "-6 route \(change) default dev lo"] {
                    let burst = try stage.received([command])
                    #expect(burst.messages == 1 && burst.subjects.contains(.defaultRoute))
                }
            }
        }
    }

    @Test func `all other messages pass the narrowest filter`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.events.setFilter(RouteFilter(watching: []))
            try stage.join()
            #expect(!stage.events.wait(atMost: .zero))
            let changes: [(String, EventBurst.Subjects)] = [
                ("link set lo mtu 1400", .link),
                ("addr add 192.0.2.3/24 dev lo", .address),
                ("addr add 2001:db8::3/64 dev lo nodad", .address),
                ("rule add fwmark 7 lookup 7", .rule),
                ("-6 rule add fwmark 7 lookup 7", .rule),
                ("nexthop add id 5 dev lo", .nextHop),
                ("nexthop del id 5", .nextHop),
                ("link add u0 type veth peer name far", .link),
                ("link set u0 up", .link),
                ("link del u0", .link),
            ]
            for (command, subject) in changes {
                let burst = try stage.received(of: subject) { try stage.namespace.ip(command) }
                #expect(burst.subjects.contains(subject), "\(command)")
                #expect(!burst.subjects.contains(.route), "\(command)")
            }
            for family in ["ipv4", "ipv6"] {
                let burst = try stage.received(of: .configuration) {
                    try stage.namespace.sysctl("net.\(family).conf.all.ignore_routes_with_linkdown", "1")
                }
                #expect(burst.subjects.contains(.configuration), "\(family)")
            }
        }
    }

    @Test func `neighbour messages are received when IPv6 begins or ceases to skip the neighbour`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.events.setFilter(RouteFilter(watching: []))
            try stage.namespace.ip([
                "link add u0 type veth peer name far", "link set u0 up", "link set far up",
                "addr add 192.0.2.3/24 dev u0", "addr add fd01::3/64 dev u0 nodad",
            ])
            try stage.join()
            // Discards remaining messages of the links.
            while stage.events.wait(atMost: .milliseconds(300)) { _ = stage.events.drain() }
            func received(_ address: String, _ state: String) throws -> Bool {
                try stage.received(["neigh replace \(address) lladdr 02:00:00:00:00:99 dev u0 nud \(state)"])
                    .subjects.contains(.neighbour)
            }
            #expect(try !received("fd01::9", "stale"))
            #expect(try received("fd01::9", "failed"))
            #expect(try !received("fd01::9", "reachable"))
            #expect(try received("fd01::9", "stale router"))
            #expect(try received("fd01::9", "reachable router"))
            #expect(try !received("fd01::9", "permanent router"))
            #expect(try received("fd01::9", "failed"))
            #expect(try stage.received(["neigh del fd01::9 dev u0"]).subjects.contains(.neighbour))
            for state in ["stale", "failed", "reachable router"] { #expect(try !received("192.0.2.9", state)) }
        }
    }

    @Test func `unrelated route changes cause no wake-up`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.events.setFilter(try Self.watch("1.1.1.1", "2606:4700:4700::1111"))
            try stage.join()
            let routes = (0..<10_000).map { "10.\($0 / 256).\($0 % 256).0/24" }
            for change in ["add", "del"] {
                try stage.namespace.ip(routes.map { "route \(change) \($0) dev lo" })
                #expect(!stage.events.wait(atMost: .zero))
                #expect(stage.events.drain().isEmpty)
            }
            #expect(try stage.received(["route add 1.1.1.0/24 dev lo"]).messages == 1)
        }
    }

    @Test func `filters can be replaced and removed`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.join()
            let routes = ["route add 1.1.1.0/24 dev lo", "route add 9.9.9.0/24 dev lo"]
            let back = ["route del 1.1.1.0/24 dev lo", "route del 9.9.9.0/24 dev lo"]
            func received() throws -> [String] {
                let burst = try stage.received(routes)
                _ = try stage.received(back)
                return burst.prefixes.list.map(\.description)
            }
            #expect(try received() == ["1.1.1.0/24", "9.9.9.0/24"])
            try stage.events.setFilter(nil)
            try stage.events.setFilter(try Self.watch("1.1.1.1"))
            #expect(try received() == ["1.1.1.0/24"])
            try stage.events.setFilter(try Self.watch("9.9.9.9"))
            #expect(try received() == ["9.9.9.0/24"])
            try stage.events.setFilter(nil)
            try stage.events.setFilter(nil)
            #expect(try received() == ["1.1.1.0/24", "9.9.9.0/24"])
        }
    }

    @Test func `no relevant event is lost during a replacement`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            let filters = [try Self.watch("1.1.1.1"), try Self.watch("1.1.1.1", "9.9.9.9", "2606:4700:4700::1111")]
            try stage.events.setFilter(filters[0])
            try stage.join()
            // So few that all of them fit into the buffer, even if they are read late.
            let count = 1000
            let lines = (0..<count / 2).flatMap { number in
                ["add", "del"].map { "route \($0) 1.1.1.0/24 dev lo\nroute \($0) 10.0.\(number % 256).0/24 dev lo" }
            }
            let process = try stage.namespace.start("ip", ["-batch", "-"], input: lines.joined(separator: "\n") + "\n")
            var burst = EventBurst()
            var replacements = 0
            let deadline = Deadline(after: .seconds(60))
            // Both filters are attached at least once, even on a slow machine.
            while burst.messages < count || replacements < 2, !deadline.hasPassed {
                replacements += 1
                try stage.events.setFilter(filters[replacements % 2])
                burst.add(stage.events.drain())
            }
            #expect(try process.wait().status == 0)
            burst.add(stage.events.drain())
            #expect(burst.messages == count && burst.overruns == 0)
            #expect(burst.prefixes.list.map(\.description) == ["1.1.1.0/24"])
        }
    }

    /// The kernel checks the program, and counts the memory of both filters until the replacement is complete.
    @Test(arguments: [0, 1, 100, 1000, 10_000])
    func `the kernel accepts filters of any size`(count: Int) async throws {
        try await LabThread.detached {
            let stage = try Stage()
            var random = RandomPrefixes(seed: UInt64(count))
            let watched = random.hosts(count)
            let filter = RouteFilter(watching: watched)
            for _ in 0..<3 { try stage.events.setFilter(filter) }
            try stage.join()
            var interpreter = try FilterInterpreter(filter.program)
            var routes: Set<AddressPrefix> = []
            while routes.count < 100 {
                let route = random.route(near: watched)
                // A default route has no prefix to recognize it by. Routes that the kernel rejects are omitted below.
                if route.length > 0 { routes.insert(route) }
            }
            var counts = (passed: 0, dropped: 0)
            for route in routes.sorted() {
                guard (try? stage.namespace.ip("route add \(route) dev lo table 7")) != nil else { continue }
                let passes = try interpreter.passes(RouteMessage.route(route))
                #expect(stage.events.drain().prefixes == (passes ? [route] : .none), "\(route)")
                if passes { counts.passed += 1 } else { counts.dropped += 1 }
            }
            #expect(counts.dropped > 0 && (counts.passed > 0 || count == 0))
        }
    }

    @Test func `after a rejected filter the socket receives everything`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.join()
            Self.lock(stage.events)
            let error = #expect(throws: NetlinkError.self) { try stage.events.setFilter(RouteFilter(watching: [])) }
            #expect(error?.stage == .filter && error?.cause == .notPermitted)
            #expect(try stage.received(["route add 9.9.9.0/24 dev lo"]).messages == 1)
        }
    }

    @Test func `a filter that cannot be replaced is reported`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            try stage.events.setFilter(RouteFilter(watching: []))
            Self.lock(stage.events)
            for filter in [try Self.watch("1.1.1.1"), nil] {
                let error = #expect(throws: NetlinkError.self) { try stage.events.setFilter(filter) }
                #expect(error?.stage == .socket && error?.cause == .notPermitted)
            }
        }
    }

    @Test func `with little kernel memory the filter is shorter`() async throws {
        try await LabThread.detached {
            let stage = try Stage()
            // Since Linux 6.8 each namespace has a separate limit.
            guard (try? stage.namespace.sysctl("net.core.optmem_max", "8192")) != nil else { return }
            var random = RandomPrefixes(seed: 1)
            let watched = random.hosts(2000)
            try stage.events.setFilter(try Self.watch("1.1.1.1"))
            try stage.events.setFilter(RouteFilter(watching: watched))
            try stage.join()
            for host in watched.prefix(20) {
                guard (try? stage.namespace.ip("route add \(host) dev lo table 7")) != nil else { continue }
                #expect(stage.events.drain().prefixes == [host])
            }
            // The memory is not sufficient for this either.
            try stage.namespace.sysctl("net.core.optmem_max", "256")
            let error = #expect(throws: NetlinkError.self) {
                try stage.events.setFilter(RouteFilter(watching: watched))
            }
            #expect(error?.stage == .filter && error?.cause == .noMemory)
            #expect(try stage.received(["route add 240.0.0.0/24 dev lo table 8"]).messages == 1)
        }
    }

    /// Prevents changes of the socket's filter. C counterpart: SO_LOCK_FILTER of `socket(7)`.
    private static func lock(_ events: EventSocket) {
        var yes: CInt = 1
        setsockopt(events.descriptor, SOL_SOCKET, SO_LOCK_FILTER, &yes, socklen_t(MemoryLayout<CInt>.size))
    }
}
