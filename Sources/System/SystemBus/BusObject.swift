import Glibc
import LinuxSupport

/// An object on the system bus whose properties all programs may read. Thread-safe.
///
/// A thread connects to the bus, requests the name, and answers calls. If the connection ends or the bus refuses the name, the thread tries
/// again. Changes that occur while the bus receives no messages are reported together, so that their memory is bounded.
///
/// C counterpart: `sd-bus(3)`.
package final class BusObject: Sendable {
    /// The names of an object, and its introspection data.
    package struct Description: Sendable {
        let name: String
        let path: String
        let interface: String
        let introspection: String
        let signal: String

        /// - Parameters:
        ///   - name: The name that the object has on the bus.
        ///   - interface: The interface of the properties.
        ///   - members: The members of the interface as introspection data.
        ///   - signal: The signal with the changed entries of a property of the kind ``BusValue/tables(_:)``.
        package init(name: String, path: String, interface: String, members: String, signal: String) {
            (self.name, self.path, self.interface, self.signal) = (name, path, interface, signal)
            introspection = """
                <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
                 "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
                <node>
                  <interface name="org.freedesktop.DBus.Properties">
                    <method name="Get">
                      <arg name="interface" type="s"/><arg name="property" type="s"/><arg type="v" direction="out"/>
                    </method>
                    <method name="GetAll"><arg name="interface" type="s"/><arg type="a{sv}" direction="out"/></method>
                    <signal name="PropertiesChanged">
                      <arg name="interface" type="s"/><arg name="changed" type="a{sv}"/><arg name="invalidated" type="as"/>
                    </signal>
                  </interface>
                  <interface name="\(interface)">
                \(members)
                  </interface>
                </node>
                """
        }
    }

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
    /// - Parameter report: Receives a message about an error, once for consecutive equal errors. Called on the thread of the object.
    package init(
        _ description: Description,
        _ properties: [String: BusValue],
        at address: String = systemAddress,
        report: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        self.properties = Locked(properties)
        wakeup = try Wakeup()
        try Thread.detach { [self] in run(description, address, report) }
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

    private func run(_ description: Description, _ address: String, _ report: (String) -> Void) {
        let action = "cannot publish \(description.name) on the system bus"
        guard let library = BusLibrary.shared?.functions else {
            return report("\(action): libsystemd.so.0 cannot be loaded; install the package libsystemd0")
        }
        var pause = Self.firstPause
        var lastError: String?
        while !isStopped {
            var isPublished = false
            do throws(BusSession.Failure) {
                let session = BusSession(library, description, properties.withLock { $0 })
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
