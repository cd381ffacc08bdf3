import CLinux
import Glibc

/// The notification socket of the service manager that started this process, such as systemd.
///
/// Each text is one datagram. Its lines are assignments such as `READY=1`. Thread-safe.
///
/// C counterpart: `sd_notify(3)`.
package struct NotifySocket: Hashable, Sendable {
    /// The address: a path, or `@` and a name in the abstract namespace of `unix(7)`.
    package let address: String

    /// The maximum length of a text in bytes. systemd drops longer ones.
    package static let longestText = 4096

    /// Returns nil if the text is not a valid address.
    package init?(_ address: String) {
        guard address.hasPrefix("/") || address.hasPrefix("@"), address.utf8.count > 1,
            address.utf8.count <= LocalSocket.longestPath, !address.utf8.contains(0)
        else { return nil }
        self.address = address
    }

    /// Sends a text. Returns when the text is in the queue of the manager.
    ///
    /// - Parameter patience: The timeout in seconds if the manager does not read.
    /// - Throws: ``SystemError``: no process receives (ENOENT, ECONNREFUSED), or the timeout has passed (EAGAIN).
    package func send(_ text: String, patience: Int = 5) throws(SystemError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longestText else { throw .messageTooLong }
        // A new socket is opened each time, because the manager may have been restarted.
        let number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .current }
        let file = Descriptor(owning: number)
        StreamExchange.limit(file, to: .seconds(patience))
        var name = Array(address.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        let flags = CInt(MSG_NOSIGNAL) | (patience > 0 ? 0 : CInt(MSG_DONTWAIT))
        _ = try SystemError.check {
            LocalSocket.withSocketAddress(name) { sendto(file.number, bytes, bytes.count, flags, $0, $1) }
        }
    }
}

/// A listening socket that this process has inherited. The code that accepts connections closes it.
///
/// C counterpart: `sd_is_socket(3)`.
package struct ListeningSocket: Hashable, Sendable {
    /// The local address of the socket.
    package enum Place: Hashable, Sendable {
        /// A path, or `@` and a name in the abstract namespace. Empty for an unnamed socket.
        case local(String)
        case internet(WireAddress, port: UInt16)
    }

    package let number: CInt
    package let place: Place

    /// Checks an inherited descriptor, and sets close-on-exec.
    ///
    /// - Throws: ``SystemError``: the descriptor is not open (EBADF), is not a socket (ENOTSOCK), is not a listening
    ///   stream socket (EINVAL), or has another address family (EAFNOSUPPORT).
    package init(_ number: CInt) throws(SystemError) {
        guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else { throw .current }
        guard try Self.option(SO_TYPE, of: number) == CInt(SOCK_STREAM.rawValue),
            try Self.option(SO_ACCEPTCONN, of: number) != 0
        else { throw .invalidArgument }
        self.number = number
        place = try Self.place(of: number)
    }

    private static func option(_ name: CInt, of number: CInt) throws(SystemError) -> CInt {
        var (value, length): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
        guard getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 else { throw .current }
        return value
    }

    private static func place(of number: CInt) throws(SystemError) -> Place {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
        }
        guard result == 0 else { throw .current }
        let bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(Int(length))) }
        if CInt(storage.ss_family) == AF_UNIX {
            return .local(localName(bytes.dropFirst(MemoryLayout<sa_family_t>.size)))
        }
        guard let endpoint = bytes.withUnsafeBytes({ SocketEndpoint($0) }) else {
            throw SystemError(rawValue: EAFNOSUPPORT)
        }
        return .internet(endpoint.address, port: endpoint.port)
    }

    private static func localName(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.first == 0 { return "@" + String(decoding: bytes.dropFirst(), as: UTF8.self) }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// The services that the service manager offers to this process: notifications, a watchdog, and listening sockets.
///
/// C counterpart: `sd_notify(3)`, `sd_watchdog_enabled(3)`, `sd_listen_fds_with_names(3)`.
package struct ServiceManagerOffer: Hashable, Sendable {
    /// The socket for notifications; nil if none are expected.
    package private(set) var notify: NotifySocket?
    /// The watchdog timeout: the manager ends the process if it receives no sign of life for this time. Nil without a
    /// watchdog.
    package private(set) var watchdog: Duration?
    /// The inherited sockets.
    package private(set) var descriptors: [HandedDescriptor] = []

    /// An inherited descriptor, and its name in the unit. The name is empty if the unit has none.
    package struct HandedDescriptor: Hashable, Sendable {
        package let number: CInt
        package let name: String
    }

    /// The first inherited descriptor, SD_LISTEN_FDS_START.
    private static let firstDescriptor: CInt = 3

    private static let names = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// Reads the environment variables of a process. Variables for another process, and malformed ones, are ignored.
    ///
    /// - Parameters:
    ///   - process: The number of this process.
    ///   - variable: Returns the value of a variable; nil if it is not set.
    package init(process: Int32, variable: (String) -> String?) {
        notify = variable("NOTIFY_SOCKET").flatMap { NotifySocket($0) }
        let isWatched = variable("WATCHDOG_PID").map { Int32($0) == process } ?? true
        if isWatched, let time = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), time > 0 {
            watchdog = .microseconds(time)
        }
        guard variable("LISTEN_PID").map({ Int32($0) == process }) ?? false,
            let count = variable("LISTEN_FDS").flatMap({ CInt($0) }), (1...1024).contains(count)
        else { return }
        let names = variable("LISTEN_FDNAMES")?.split(at: ":", omittingEmptySubsequences: false) ?? []
        descriptors = (0..<count).map { index in
            let name = Int(index) < names.count ? String(names[Int(index)]) : ""
            // systemd uses this name for a socket without a name.
            return HandedDescriptor(number: Self.firstDescriptor + index, name: name == "unknown" ? "" : name)
        }
    }

    /// Returns the offer for this process, and removes it from child processes: the variables are unset, and the
    /// descriptors are closed on exec.
    ///
    /// Call it once, before any thread is started.
    package static func take() -> ServiceManagerOffer {
        let offer = ServiceManagerOffer(process: getpid()) { EnvironmentVariable.value(of: $0) }
        for name in names { unsetenv(name) }
        for descriptor in offer.descriptors { _ = fcntl(descriptor.number, F_SETFD, FD_CLOEXEC) }
        return offer
    }
}
