import Dispatch
package import LinuxSupport
package import NetworkReachability
package import ReachabilityLedger

/// The process that began an outage, or an interval of one, by removing something that the path needed. The attribution of an outage never
/// depends on it.
package struct OutageActor: Hashable, Sendable {
    /// The id of the outage.
    package let outage: String
    /// The start of the outage.
    package let start: LedgerInstant
    /// The start of the interval that the process began: the first of the outage, or a later one.
    package let interval: LedgerInstant
    package let process: ActingProcess

    /// The id of the outage, with the start of a later interval.
    package var key: String { Self.key(of: interval, outage, start) }

    fileprivate static func key(of interval: LedgerInstant, _ outage: String, _ start: LedgerInstant) -> String {
        interval == start ? outage : "\(outage)/\(String(interval.nanoseconds, radix: 36))"
    }
}

extension Outage {
    /// The keys of the intervals that may have an actor.
    package var actorKeys: [(interval: LedgerInstant, key: String)] {
        intervals.filter(\.mayHaveActor).map { ($0.start, OutageActor.key(of: $0.start, id, start)) }
    }
}

extension LedgerInterval {
    /// Whether the cause is something that a process can remove.
    fileprivate var mayHaveActor: Bool {
        state.attribution == .us && [.route, .address, .policy].contains(state.cause)
    }
}

extension Accounting {
    /// The maximum number of actors of this run in memory. The history has all.
    package static let actorLimit = 1000

    /// The processes of this run by their keys.
    package var actorsByKey: [String: ActingProcess] {
        Dictionary(actors.map { ($0.key, $0.process) }) { _, last in last }
    }

    /// Returns the processes of this run that began an outage, by the starts of its intervals.
    package func actors(of outage: String) -> [LedgerInstant: ActingProcess] {
        let own = actors.lazy.filter { $0.outage == outage }
        return Dictionary(own.map { ($0.interval, $0.process) }) { _, last in last }
    }
}

extension MonitoringService {
    /// Searches for the process that began an interval, immediately, because a process that has ended cannot be found.
    func findActor(of removal: Removal, _ target: String, _ events: [ServiceEvent]) {
        for event in events {
            let outage: Outage
            switch event.kind {
            case .outageBegan(let began): outage = began
            case .outageRefined(let refined): outage = refined
            default: continue
            }
            guard let interval = outage.intervals.last, interval.mayHaveActor else { continue }
            actorQueue.async { [weak self] in
                guard let self, let process = actorFinder.process(behind: removal) else { return }
                let boot = clock.monitor.boot
                let actor = OutageActor(
                    outage: outage.id,
                    start: outage.start,
                    interval: interval.start,
                    process: process
                )
                record { state in [state.books.add(actor, on: target, now: state.line.instant(at: boot))] }
            }
        }
    }
}

/// A running process that changed the network.
package struct ActingProcess: Hashable, Sendable {
    /// The process id in the namespace of this service.
    package let id: Int32
    /// The name of the program, at most 15 bytes. A process can choose it: `proc_pid_comm(5)`.
    package let program: String
    /// The unit of systemd; nil if there is none.
    package let unit: String?

    package init(id: Int32, program: String, unit: String?) {
        (self.id, self.program, self.unit) = (id, program, unit)
    }
}

extension ActingProcess {
    /// The object in the API and in notifications.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("pid", id)
        object.add("program", program)
        object.add("unit", unit)
        return object
    }

    /// For example `openvpn, pid 812, of openvpn@site.service`. Control characters are escaped, because a program chooses its name.
    package var text: String { "\(program.printable), pid \(id)\(unit.map { ", of \($0.printable)" } ?? "")" }
}

extension ActingProcess {
    /// Returns the innermost control group with the name of a unit.
    ///
    /// - Parameter groups: The text of `/proc/PID/cgroup`, `cgroups(7)`.
    static func unit(inGroups groups: String) -> String? {
        let line = groups.split(at: "\n").first { $0.hasPrefix("0::/") && $0 != "0::/" }
        let named = line ?? groups.split(at: "\n").first { $0.contains(":name=systemd:") }
        guard let path = named?.split(at: ":", maxSplits: 2, omittingEmptySubsequences: false).last else {
            return nil
        }
        return path.split(at: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
    }
}

/// The removal of a part of the network configuration.
package struct Removal: Hashable, Sendable {
    /// The netlink port of the requester.
    package let port: UInt32
    /// The network namespace of the change.
    package let namespace: NetworkNamespace
    /// When the event was received, on CLOCK_MONOTONIC.
    package let noticed: Duration
}

/// Finds the process behind a change. It searches once for each change, which may begin outages of many targets.
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

/// Finds the process behind a netlink port.
///
/// A port does not prove an identity: a process that has ended may have had it, a process of another PID namespace has another id there,
/// and further sockets of a process have other ports. A process is returned only if all of this holds:
///
/// 1. The lower 22 bits of the port are a process id. The kernel uses the id for the first socket of a process, and libnl counts sockets
///    in the upper bits. Ports from 2^31 on are random.
/// 2. A routing socket (NETLINK_ROUTE) of the network namespace still has the port. While one has it, no other can.
/// 3. Of all processes of the network namespace with this id in their own PID namespace, exactly one has that socket. Without the
///    permission to read its descriptors (the same user or CAP_SYS_PTRACE), a process counts as having the socket. Only a service in the
///    first PID namespace can exclude other processes.
/// 4. The process began before the change, and was the same during the whole search.
///
/// The search needs no privilege, but finds nothing if `/proc` hides the processes of other users (`hidepid`). It reads all of `/proc` and
/// takes some milliseconds, so it never runs on a thread that receives events.
///
/// Source: netlink(7), "nl_pid"; `proc_pid_status(5)`, "NSpid"; `netlink_autobind` of the kernel's net/netlink/af_netlink.c;
/// `generate_local_port` of libnl's lib/socket.c.
struct ProcessSearch: Sendable {
    /// The bits of a process id: `pid_max`, `proc_sys_kernel(5)`.
    private static let processBits: UInt32 = 1 << 22 - 1
    /// The first random port.
    private static let firstByChance: UInt32 = 1 << 31
    /// The resolution of the start of a process.
    private static let tick = Duration.milliseconds(10)

    let clock: any MonitorClock

    /// Whether this process is in the first PID namespace: `PROC_PID_INIT_INO` of the kernel's include/linux/proc_ns.h.
    private static var seesEverybody: Bool {
        (try? NamespaceIdentity(path: "/proc/self/ns/pid"))?.inode == 0xEFFF_FFFC
    }

    /// Returns the process that made a change; nil if it is not certain.
    func process(behind removal: Removal) -> ActingProcess? {
        let port = removal.port
        let number = port & Self.processBits
        let instant = clock.boot - (clock.monotonic - removal.noticed)
        guard number > 0, port < Self.firstByChance, let table = SocketTable.identity(of: removal.namespace) else {
            return nil
        }
        let names = (try? DirectoryListing.names(in: "/proc")) ?? []
        let found = names.compactMap { Int32($0) }.compactMap { id in
            Candidate(id, numbered: number).flatMap { SocketTable.identity(of: id) == table ? $0 : nil }
        }
        guard let socket = found.first.flatMap({ SocketTable.routingSocket(at: port, of: $0.id) }) else { return nil }
        let seesEverybody = Self.seesEverybody
        let holders = found.filter { $0.has(socket: socket) ?? seesEverybody }
        guard holders.count == 1, let candidate = holders.first, candidate.start <= instant + Self.tick else {
            return nil
        }
        let groups = TextFile.read("/proc/\(candidate.id)/cgroup", limit: 1 << 16) ?? ""
        guard Candidate(candidate.id, numbered: number)?.start == candidate.start else { return nil }
        return ActingProcess(
            id: candidate.id,
            program: candidate.program,
            unit: ActingProcess.unit(inGroups: groups)
        )
    }
}

/// A process with a certain id in its own PID namespace.
private struct Candidate {
    let id: Int32
    let program: String
    /// On CLOCK_BOOTTIME.
    let start: Duration

    /// Nil for another id, for a process that has ended, and for a kernel thread.
    init?(_ id: Int32, numbered number: UInt32) {
        guard let status = TextFile.read("/proc/\(id)/status", limit: 1 << 16) else { return nil }
        var (program, numbers, hasMemory) = ("", "", false)
        for line in status.split(at: "\n") {
            guard let colon = line.unicodeScalars.firstIndex(of: ":") else { continue }
            let value = line[line.unicodeScalars.index(after: colon)...].drop(while: \.isWhitespace)
            switch line[..<colon] {
            case "Name": program = String(value)
            case "NSpid": numbers = String(value)
            case "VmSize": hasMemory = true
            default: break
            }
        }
        guard hasMemory, numbers.words.last == String(number)[...],
            let start = ProcessStart.boot(stat: "/proc/\(id)/stat")
        else { return nil }
        (self.id, self.program, self.start) = (id, program, start)
    }

    /// Whether the process has a socket with this inode; nil without permission.
    func has(socket: UInt64) -> Bool? {
        let folder = "/proc/\(id)/fd"
        guard let files = try? DirectoryListing.names(in: folder) else { return nil }
        return files.contains { (try? NamespaceIdentity(path: "\(folder)/\($0)"))?.inode == socket }
    }
}

/// The netlink sockets of a network namespace, `/proc/PID/net/netlink`. All users may read it.
private enum SocketTable {
    static func identity(of process: Int32) -> NamespaceIdentity? {
        try? NamespaceIdentity(path: "/proc/\(process)/net/netlink")
    }

    static func identity(of namespace: NetworkNamespace) -> NamespaceIdentity? {
        let found = try? Thread.run {
            do throws(SystemError) {
                try namespace.enterForSockets()
                return try? NamespaceIdentity(path: "/proc/thread-self/net/netlink")
            } catch {
                return nil
            }
        }
        return found ?? nil
    }

    /// Returns the inode of the routing socket with a port in the network namespace of a process.
    static func routingSocket(at port: UInt32, of process: Int32) -> UInt64? {
        // The kernel may leave a socket out while others are opened or closed.
        for _ in 0..<4 { if let inode = readSocket(at: port, of: process) { return inode } }
        return nil
    }

    private static func readSocket(at port: UInt32, of process: Int32) -> UInt64? {
        let text = TextFile.read("/proc/\(process)/net/netlink", limit: 16 << 20) ?? ""
        for line in text.split(at: "\n") {
            // sk, protocol, port, and the inode last.
            let fields = line.split(at: " ")
            guard fields.count > 3, fields[1] == "0", fields[2] == String(port)[...] else { continue }
            return UInt64(fields[fields.count - 1])
        }
        return nil
    }
}
