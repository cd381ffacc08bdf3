import CSystemd
import Glibc
import LinuxSupport

/// A connection to the bus with one object. Used by one thread.
final class BusSession {
    /// The reason why the connection or the name is not available, with a hint.
    struct Failure: Error {
        let text: String

        init(_ code: CInt, _ hint: String = "") {
            text = "\(SystemError(rawValue: -code))\(hint)"
        }
    }

    private let library: csystemd
    /// The name of the service on the bus and of its interface. The path of the object is derived from it.
    private let name: String
    private let members: String
    /// The connection; nil before ``open(_:)``.
    private var bus: OpaquePointer?
    /// The properties as the clients know them.
    private var published: [String: BusValue]
    private var allowance = CallAllowance()

    init(_ library: csystemd, _ name: String, _ members: String, _ properties: [String: BusValue]) {
        (self.library, self.name, self.members, published) = (library, name, members, properties)
    }

    private var path: String { "/" + name.replacing(scalars: ".", with: "/") }

    deinit {
        guard let bus else { return }
        library.close(bus)
        _ = library.unref(bus)
    }

    /// Connects and requests the name. Blocks until the bus has answered, at most 25 s.
    func open(_ address: String) throws(Failure) {
        let retry = "; the service tries again"
        try check(library.new(&bus))
        try check(library.set_address(connection, address))
        try check(library.set_bus_client(connection, 1))
        // No call needs descriptors.
        try check(library.negotiate_fds(connection, 0))
        try check(library.start(connection), "; install and start dbus" + retry)
        let context = Unmanaged.passUnretained(self).toOpaque()
        let added = try library.add_object(
            connection,
            nil,
            path,
            { call, context, failure in
                Unmanaged<BusSession>.fromOpaque(context).takeUnretainedValue().answer(call, failure)
            },
            context
        )
        try check(added)
        let requested = try library.request_name(connection, name, 0)
        let hint =
            switch requested {
            case -EACCES: "; a file \(name).conf in /etc/dbus-1/system.d must permit the name to this user"
            case -EEXIST: "; another process has the name"
            case -ENOTCONN, -ECONNRESET: "; the bus refuses users that it does not know, so run systemd-sysusers"
            default: ""
            }
        try check(requested, hint + retry)
    }

    /// Reports changed properties to the clients, unless earlier messages still wait to be sent.
    func publish(_ properties: [String: BusValue]) throws(Failure) {
        if try hasOutput() { return }
        let before = published
        let changed = properties.filter { before[$0.key] != $0.value }
        if changed.isEmpty { return }
        published = properties
        // Tables may be long. A client reads them again, or follows the signal with the changed entries.
        let tables = changed.filter { if case .tables = $0.value { true } else { false } }
        try emit(Self.properties, "PropertiesChanged") { message in
            message.append(.text(name))
            message.append(.table(changed.filter { tables[$0.key] == nil }))
            message.append(.texts(tables.keys.sorted()))
        }
        for case (let property, .tables(let now)) in tables {
            let old: [String: [String: BusValue]] = if case .tables(let old)? = before[property] { old } else { [:] }
            let entries = now.filter { old[$0.key] != $0.value }.map { ($0.key, $0.value) }
            for start in stride(from: 0, to: entries.count, by: Self.entryLimit) {
                let part = entries[start...].prefix(Self.entryLimit)
                try emit(name, "Changed") { $0.append(.tables(Dictionary(uniqueKeysWithValues: part))) }
            }
        }
    }

    /// The maximum number of entries in one signal, which is then far below the maximum size of a message.
    private static let entryLimit = 1000

    private func emit(_ interface: String, _ member: String, _ write: (inout BusMessage) -> Void) throws(Failure) {
        let bus = try connection
        var message = BusMessage(library) { library.message_new_signal(bus, $0, path, interface, member) }
        write(&message)
        try check(message.send(on: bus))
    }

    /// Answers at most ``callLimit`` calls. Stops earlier if the bus does not take an answer immediately.
    func process() throws(Failure) {
        for _ in 0..<Self.callLimit {
            if try check(library.process(connection, nil)) == 0 { return }
            if try hasOutput() { return }
        }
    }

    /// The number of messages after which changed properties are published.
    private static let callLimit = 100

    /// Waits for a message, a timeout of the connection, or a descriptor.
    func wait(orUntil wakeup: CInt) throws(Failure) {
        var end = UInt64.max
        try check(library.get_timeout(connection, &end))
        let now = UInt64(clamping: SystemClock.monotonic.nanoseconds / 1000)
        let limit = end == .max ? -1 : end <= now ? 0 : CInt(clamping: (end - now) / 1000 + 1)
        let events = try hasOutput() ? POLLOUT : POLLIN
        var descriptors = [
            pollfd(fd: try check(library.get_fd(connection)), events: Int16(events), revents: 0),
            pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
        ]
        poll(&descriptors, 2, limit)
    }

    /// Returns whether messages are not sent yet, because the bus does not receive them.
    private func hasOutput() throws(Failure) -> Bool {
        try check(library.get_events(connection)) & POLLOUT != 0
    }

    private var connection: OpaquePointer {
        get throws(Failure) {
            guard let bus else { throw Failure(-ENOTCONN) }
            return bus
        }
    }

    @discardableResult
    private func check(_ code: CInt, _ hint: String = "") throws(Failure) -> CInt {
        if code < 0 { throw Failure(code, hint) }
        return code
    }
}

extension BusSession {
    private static let properties = "org.freedesktop.DBus.Properties"

    /// An error of the D-Bus specification.
    private struct CallError: Error {
        let name: String
        let text: String
    }

    /// Answers a call. Returns 0 for a call that libsystemd must answer, such as one to an unknown method.
    private func answer(_ call: OpaquePointer, _ failure: OpaquePointer) -> CInt {
        do throws(CallError) {
            let client = text(library.message_get_sender(call))
            guard allowance.admits(client, at: SystemClock.monotonic) else {
                throw CallError(name: "LimitsExceeded", text: "too many calls; follow the signal PropertiesChanged")
            }
            var answer = BusMessage(library) { library.message_new_method_return(call, $0) }
            switch (text(library.message_get_interface(call)), text(library.message_get_member(call))) {
            case (Self.properties, "Get"):
                let words = try words(of: call, 2)
                guard isOwn(words[0]), let value = published[words[1]] else { return 0 }
                allowance.charge(client, value.size)
                answer.append(variant: value)
            case (Self.properties, "GetAll"):
                guard isOwn(try words(of: call, 1)[0]) else { return 0 }
                allowance.charge(client, BusValue.table(published).size)
                answer.append(.table(published))
            case (Self.properties, "Set"):
                throw CallError(name: "PropertyReadOnly", text: "all properties are read-only")
            case ("org.freedesktop.DBus.Introspectable", "Introspect"): answer.append(.text(introspection))
            default: return 0
            }
            // A message is sent also if the code is 0, which would let the library answer again.
            let code = answer.send()
            return code < 0 ? code : 1
        } catch {
            return library.error_set(failure, "org.freedesktop.DBus.Error.\(error.name)", error.text)
        }
    }

    /// Returns the arguments of a call, which must be strings.
    private func words(of call: OpaquePointer, _ count: Int) throws(CallError) -> [String] {
        guard library.message_has_signature(call, String(repeating: "s", count: count)) > 0 else {
            throw CallError(
                name: "InvalidArgs",
                text: "the call takes \(count == 1 ? "one string" : "\(count) strings")"
            )
        }
        return (0..<count).map { _ in
            var word: UnsafePointer<CChar>?
            return library.message_read_basic(call, CChar(UInt8(ascii: "s")), &word) > 0 ? text(word) : ""
        }
    }

    /// Returns whether a name is that of the interface. An empty name stands for all interfaces.
    private func isOwn(_ interface: String) -> Bool { interface.isEmpty || interface == name }

    private var introspection: String {
        """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
        <interface name="\(Self.properties)">
        <method name="Get"><arg type="s"/><arg type="s"/><arg type="v" direction="out"/></method>
        <method name="GetAll"><arg type="s"/><arg type="a{sv}" direction="out"/></method>
        <signal name="PropertiesChanged"><arg type="s"/><arg type="a{sv}"/><arg type="as"/></signal>
        </interface>
        <interface name="\(name)">
        \(members)
        </interface>
        </node>
        """
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}

/// The work that each client may cause, so that a client that floods the service delays no other client for long.
struct CallAllowance {
    /// The maximum number of values in the answers to one client in a second. The last answer may exceed it.
    static let limit = 10_000

    private var second: Int64 = 0
    private var spent: [String: Int] = [:]

    /// Counts a call. Returns whether it is answered.
    mutating func admits(_ client: String, at now: Duration) -> Bool {
        if now.components.seconds != second { (second, spent) = (now.components.seconds, [:]) }
        charge(client, 1)
        return spent[client, default: 0] <= Self.limit
    }

    mutating func charge(_ client: String, _ values: Int) {
        spent[client, default: 0] += values
    }
}
