import Dispatch
package import LinuxSupport
package import NetworkReachability
package import ReachabilityLedger

/// The process that caused an outage, or a later interval of it, by removing a route, rule or address that the path needed.
///
/// The attribution of an outage does not depend on the actor.
package struct OutageActor: Hashable, Sendable {
    /// The id of the outage.
    package let outage: String
    /// The start of the outage.
    package let start: LedgerInstant
    /// The start of the interval that the process caused. It equals `start` for the first interval of the outage.
    package let interval: LedgerInstant
    package let process: ActingProcess

    /// The key in the history: the id of the outage, and for a later interval also its start.
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
    /// A Boolean value that indicates whether a process can have removed the part that is missing: a route, an address or a policy rule.
    fileprivate var mayHaveActor: Bool {
        state.attribution == .us && [.route, .address, .policy].contains(state.cause)
    }
}

extension Accounting {
    /// The maximum number of actors of this run in memory. The history stores all of them.
    package static let actorLimit = 1000

    /// The processes found in this run, keyed by ``OutageActor/key``.
    package var actorsByKey: [String: ActingProcess] {
        Dictionary(actors.map { ($0.key, $0.process) }) { _, last in last }
    }

    /// Returns the processes that caused intervals of an outage in this run, keyed by the start of the interval.
    package func actors(of outage: String) -> [LedgerInstant: ActingProcess] {
        let own = actors.lazy.filter { $0.outage == outage }
        return Dictionary(own.map { ($0.interval, $0.process) }) { _, last in last }
    }
}

extension MonitoringService {
    /// Schedules a search for the process that caused an interval. It starts at once, because a process that has exited cannot be found.
    func findActor(of removal: Removal, _ target: String, _ events: [ServiceEvent]) {
        for event in events {
            let outage: Outage
            switch event.kind {
            case .ledger(.outageBegan(let began)): outage = began
            case .ledger(.outageRefined(let refined)): outage = refined
            default: continue
            }
            guard let interval = outage.intervals.last, interval.mayHaveActor else { continue }
            actorQueue.async { [weak self] in
                guard let self, let process = actorFinder.process(behind: removal) else { return }
                let actor = OutageActor(
                    outage: outage.id,
                    start: outage.start,
                    interval: interval.start,
                    process: process
                )
                record { state, now in [state.accounting.add(actor, on: target, now: now)] }
            }
        }
    }
}

/// A running process that changed the network.
package struct ActingProcess: Hashable, Sendable {
    /// The process id in the namespace of this service.
    package let id: Int32
    /// The command name, at most 15 bytes. A process can set it to any text.
    ///
    /// Source: `proc_pid_comm(5)`.
    package let program: String
    /// The systemd unit of the process; nil without a unit.
    package let unit: String?

    /// The JSON object in the API and in notifications.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("pid", id)
        object.add("program", program)
        object.add("unit", unit)
        return object
    }

    /// A description such as `openvpn, pid 812, of openvpn@site.service`.
    ///
    /// Control characters are escaped, because a process can choose its name.
    package var text: String { "\(program.printable), pid \(id)\(unit.map { ", of \($0.printable)" } ?? "")" }

    /// Returns the innermost control group whose name is that of a systemd service or scope; nil without one.
    ///
    /// - Parameter groups: The content of `/proc/PID/cgroup`; see `cgroups(7)`.
    static func unit(inGroups groups: String) -> String? {
        let line = groups.split(at: "\n").first { $0.hasPrefix("0::/") && $0 != "0::/" }
        let named = line ?? groups.split(at: "\n").first { $0.contains(":name=systemd:") }
        guard let path = named?.split(at: ":", maxSplits: 2, omittingEmptySubsequences: false).last else {
            return nil
        }
        return path.split(at: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
    }
}

/// A netlink event that reports the removal of a part of the network configuration.
package struct Removal: Hashable, Sendable {
    /// The netlink port ID of the socket that requested the removal.
    package let port: UInt32
    /// The network namespace of the change.
    package let namespace: NetworkNamespace
    /// The time at which the event was received, on CLOCK_MONOTONIC.
    package let noticed: Duration
}

/// A cached search for the process behind a removal. Thread-safe.
///
/// The last result is cached, because one removal can cause outages of many targets.
final class ActorFinder: Sendable {
    private let search: @Sendable (Removal) -> ActingProcess?
    private let last = Locked<(removal: Removal, process: ActingProcess?)?>(nil)

    init(_ search: @escaping @Sendable (Removal) -> ActingProcess?) {
        self.search = search
    }

    /// Returns the process behind a removal; nil if none was found.
    func process(behind removal: Removal) -> ActingProcess? {
        if let last = last.withLock(\.self), last.removal == removal { return last.process }
        let process = search(removal)
        last.withLock { $0 = (removal, process) }
        return process
    }
}

/// A search for the process behind a netlink port ID.
///
/// A port ID alone does not identify a process. A process that has exited may have used it, a process in another PID namespace has a
/// different process id there, and additional sockets of a process have other port IDs. A process is returned only if all of these
/// conditions hold:
///
/// 1. The lower 22 bits of the port ID are a process id. The kernel assigns the process id to the first socket of a process, and libnl
///    numbers further sockets in the upper bits. Port IDs from 2^31 on are random.
/// 2. A NETLINK_ROUTE socket in the network namespace still has the port ID. While it is bound, no other socket can use the same port ID.
/// 3. Of all processes in the network namespace that have this id in their own PID namespace, exactly one holds that socket. If the
///    descriptors of a process cannot be read (this requires the same user or CAP_SYS_PTRACE) and the service is in the initial PID
///    namespace, the process counts as a holder.
/// 4. The process started before the removal, and it is the same process at the end of the search.
///
/// The search needs no privilege. It finds nothing if `/proc` hides the processes of other users (`hidepid`). It reads all of `/proc`,
/// which takes some milliseconds, so it must not run on a thread that receives events.
///
/// Source: netlink(7), "nl_pid"; `proc_pid_status(5)`, "NSpid"; `netlink_autobind` of the kernel's net/netlink/af_netlink.c;
/// `generate_local_port` of libnl's lib/socket.c.
struct ProcessSearch: Sendable {
    /// The bits of a port ID that contain a process id.
    ///
    /// Source: `pid_max` in `proc_sys_kernel(5)`.
    private static let processBits: UInt32 = 1 << 22 - 1
    /// The lowest random port ID.
    private static let firstByChance: UInt32 = 1 << 31
    /// The resolution of the start time of a process.
    private static let tick = Duration.milliseconds(10)

    let clock: any MonitorClock

    /// A Boolean value that indicates whether this process is in the initial PID namespace.
    ///
    /// Source: `PROC_PID_INIT_INO` of the kernel's include/linux/proc_ns.h.
    private static var seesEverybody: Bool {
        (try? NamespaceIdentity(path: "/proc/self/ns/pid"))?.inode == 0xEFFF_FFFC
    }

    /// Returns the process that requested a removal; nil if it is not certain.
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

/// A process that has the searched id in its own PID namespace.
private struct Candidate {
    let id: Int32
    let program: String
    /// The start of the process, on CLOCK_BOOTTIME.
    let start: Duration

    /// Reads `/proc/ID/status`. The result is nil if the process has another id in its namespace, has exited, or is a kernel thread.
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

    /// Returns a Boolean value that indicates whether the process holds the socket with an inode; nil without permission to read its
    /// descriptors.
    func has(socket: UInt64) -> Bool? {
        let folder = "/proc/\(id)/fd"
        guard let files = try? DirectoryListing.names(in: folder) else { return nil }
        return files.contains { (try? NamespaceIdentity(path: "\(folder)/\($0)"))?.inode == socket }
    }
}

/// The table of netlink sockets of a network namespace, `/proc/PID/net/netlink`. It is readable for all users.
private enum SocketTable {
    /// Returns the identity of the table of a process. Processes in the same network namespace have the same one.
    static func identity(of process: Int32) -> NamespaceIdentity? {
        try? NamespaceIdentity(path: "/proc/\(process)/net/netlink")
    }

    /// Returns the identity of the table of a network namespace.
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

    /// Returns the inode of the NETLINK_ROUTE socket with a port ID in the network namespace of a process; nil without one.
    static func routingSocket(at port: UInt32, of process: Int32) -> UInt64? {
        // The table may miss a socket while other sockets are opened or closed.
        for _ in 0..<4 { if let inode = readSocket(at: port, of: process) { return inode } }
        return nil
    }

    private static func readSocket(at port: UInt32, of process: Int32) -> UInt64? {
        let text = TextFile.read("/proc/\(process)/net/netlink", limit: 16 << 20) ?? ""
        for line in text.split(at: "\n") {
            // The columns are sk, protocol and port ID; the last one is the inode.
            let fields = line.split(at: " ")
            guard fields.count > 3, fields[1] == "0", fields[2] == String(port)[...] else { continue }
            return UInt64(fields[fields.count - 1])
        }
        return nil
    }
}
