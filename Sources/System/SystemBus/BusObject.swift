import Glibc
package import LinuxSupport

/// An object on the system bus whose properties all programs may read. Thread-safe.
///
/// A thread connects to the bus, requests the name, and answers calls. If the connection ends or the bus refuses the name, the thread tries
/// again. Changes that occur while the bus receives no messages are reported together, so that their memory is bounded.
///
/// The name, for example `org.example.Clock1`, is also that of the interface, and the path is `/org/example/Clock1`. `PropertiesChanged`
/// reports changes. For a property of the kind ``BusValue/tables(_:)``, a signal `Changed` contains the changed entries.
///
/// C counterpart: `sd-bus(3)`.
package final class BusObject: Sendable {
    /// The address of the system bus.
    ///
    /// Source: D-Bus specification, "Well-known Message Bus Instances".
    package static var systemAddress: String {
        EnvironmentVariable.value(of: "DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// The pause after the first failed attempt. It doubles with each further attempt, up to the maximum.
    private static let (firstPause, longestPause) = (Duration.seconds(1), Duration.seconds(300))

    private let properties: Locked<[String: BusValue]>
    private let wakeup: Wakeup
    private let stopped = Latch()

    /// Publishes an object until ``stop()``.
    ///
    /// - Parameters:
    ///   - members: The members of the interface as introspection data.
    ///   - report: Receives a message about an error, once for consecutive equal errors. Called on the thread of the object.
    package init(
        _ name: String,
        members: String,
        _ properties: [String: BusValue],
        at address: String = systemAddress,
        report: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        self.properties = Locked(properties)
        wakeup = try Wakeup()
        try Thread.detach { [self] in run(name, members, address, report) }
    }

    /// Replaces the properties, and reports the changes to the clients. Never blocks.
    package func publish(_ properties: [String: BusValue]) {
        self.properties.withLock { $0 = properties }
        wakeup.wake()
    }

    /// Ends the connection soon. Never blocks.
    package func stop() {
        stopped.open()
        wakeup.wake()
    }

    private var isStopped: Bool { stopped.wait(atMost: .zero) }

    private func run(_ name: String, _ members: String, _ address: String, _ report: (String) -> Void) {
        let action = "cannot publish \(name) on the system bus"
        guard let library = BusLibrary.shared?.functions else {
            return report("\(action): libsystemd.so.0 cannot be loaded; install the package libsystemd0")
        }
        var pause = Self.firstPause
        var lastError: String?
        while !isStopped {
            var isPublished = false
            do throws(BusSession.Failure) {
                let session = BusSession(library, name, members, properties.withLock { $0 })
                try session.open(address)
                (isPublished, lastError, pause) = (true, nil, Self.firstPause)
                try follow(session)
            } catch {
                // The next attempt after a restart of the bus usually succeeds.
                if !isPublished, error.text != lastError {
                    report("\(action) at \(address.printable): \(error.text)")
                    lastError = error.text
                }
            }
            _ = stopped.wait(atMost: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Publishes changes and answers calls until the object is stopped or the connection ends.
    private func follow(_ session: BusSession) throws(BusSession.Failure) {
        while true {
            wakeup.clear()
            if isStopped { return }
            try session.publish(properties.withLock { $0 })
            try session.process()
            try session.wait(orUntil: wakeup.number)
        }
    }
}
