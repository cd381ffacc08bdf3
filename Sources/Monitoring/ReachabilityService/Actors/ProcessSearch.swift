import LinuxSupport
import NetworkReachability

/// Finds the process behind a netlink port.
///
/// A port is a name, not a proof: a program that has ended may have had it, a process of another PID namespace has a number of its own
/// there, and further sockets of a process have ports that are no process's. So a process is told only where all of this holds:
///
/// 1. The port has the number of a process in its lower 22 bits: it is that number for the first socket of a process, while libnl counts
///    its sockets in the bits above. From 2^31 on the kernel gives ports by chance.
/// 2. A routing socket (NETLINK_ROUTE) of the network namespace still has the port. While one has it, no other can.
/// 3. Of all processes of the network namespace that have the number in their own PID namespace, one alone has that socket. Where nobody
///    may look (that takes the same user or CAP_SYS_PTRACE), it counts that it may have it; but only those in the first PID namespace
///    know that there is no other.
/// 4. The process began before the change, and was the same one all the while it was looked at.
///
/// It needs no privilege there, but sees nobody where `/proc` hides the processes of others (`hidepid`). It reads all of `/proc`, so it takes
/// some milliseconds: never on a thread that hears of changes.
///
/// Source: netlink(7), "nl_pid"; `proc_pid_status(5)`, "NSpid"; `netlink_autobind` of the kernel's net/netlink/af_netlink.c;
/// `generate_local_port` of libnl's lib/socket.c.
struct ProcessSearch: Sendable {
    /// The bits that the number of any process has room in: `pid_max`, `proc_sys_kernel(5)`.
    private static let processBits: UInt32 = 1 << 22 - 1
    /// The kernel's own choice where a process has a first socket already.
    private static let firstByChance: UInt32 = 1 << 31
    /// The kernel counts the start of a process in hundredths of a second.
    private static let tick = Duration.milliseconds(10)

    let clock: any MonitorClock

    /// Whether this process is in the first PID namespace: `PROC_PID_INIT_INO` of the kernel's include/linux/proc_ns.h.
    private static var seesEverybody: Bool {
        (try? NamespaceIdentity(path: "/proc/self/ns/pid"))?.inode == 0xEFFF_FFFC
    }

    /// Who made a change; nil where that cannot be told for sure.
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

/// A process that has a certain number in its own PID namespace.
private struct Candidate {
    let id: Int32
    let program: String
    /// On CLOCK_BOOTTIME.
    let start: Duration

    /// Nil for those of another number, those that ended, and threads of the kernel, which have no memory.
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

    /// Whether it has a socket of this inode; nil where that may not be looked at.
    func has(socket: UInt64) -> Bool? {
        let folder = "/proc/\(id)/fd"
        guard let files = try? DirectoryListing.names(in: folder) else { return nil }
        return files.contains { (try? NamespaceIdentity(path: "\(folder)/\($0)"))?.inode == socket }
    }
}

/// The netlink sockets of a network namespace, `/proc/PID/net/netlink`: each namespace has a file of its own, which everybody may read.
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

    /// The inode of the routing socket that has a port in the network namespace of a process.
    static func routingSocket(at port: UInt32, of process: Int32) -> UInt64? {
        // Where sockets come and go meanwhile, the kernel may pass one over.
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
