import Glibc

/// What the service manager that started this process offers it: where to say how it does, how often it wants to hear that it lives, and
/// sockets that listen already.
///
/// C counterpart: `sd_notify(3)`, `sd_watchdog_enabled(3)`, `sd_listen_fds_with_names(3)`.
package struct ServiceManagerOffer: Hashable, Sendable {
    /// Where to say how it does; nil where nobody wants to hear.
    package private(set) var notify: NotifySocket?
    /// The process is ended if the manager does not hear for so long that it lives; nil where it does not mind.
    package private(set) var watchdog: Duration?
    /// Sockets that were handed over.
    package private(set) var descriptors: [HandedDescriptor] = []

    /// A descriptor, and what its unit calls it; nothing where it has no name.
    package struct HandedDescriptor: Hashable, Sendable {
        package let number: CInt
        package let name: String

        package init(number: CInt, name: String) {
            (self.number, self.name) = (number, name)
        }
    }

    /// The first descriptor that is handed over, SD_LISTEN_FDS_START.
    private static let firstDescriptor: CInt = 3

    private static let names = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// Reads the variables of a process. What is meant for another process, or is malformed, is not offered.
    ///
    /// - Parameters:
    ///   - process: The number of this process.
    ///   - variable: The value of a variable; nil where it is not set.
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
            // What systemd calls them that have no name.
            return HandedDescriptor(number: Self.firstDescriptor + index, name: name == "unknown" ? "" : name)
        }
    }

    /// What this process is offered. Whatever it starts is offered nothing: the variables are removed, and the descriptors are closed
    /// in other programs.
    ///
    /// To be called once, before there are threads.
    package static func take() -> ServiceManagerOffer {
        let offer = ServiceManagerOffer(process: getpid()) { EnvironmentVariable.value(of: $0) }
        for name in names { unsetenv(name) }
        for descriptor in offer.descriptors { _ = fcntl(descriptor.number, F_SETFD, FD_CLOEXEC) }
        return offer
    }
}
