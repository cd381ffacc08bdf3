import CSystemd

/// A value in a D-Bus message.
package enum BusValue: Hashable, Sendable {
    case text(String)
    case number(UInt64)
    /// An array of texts, `as`.
    case texts([String])
    /// A dictionary of variants, `a{sv}`.
    case table([String: BusValue])
    /// A dictionary of tables, `a{sa{sv}}`.
    case tables([String: [String: BusValue]])

    /// The D-Bus signature of the type, such as `s`.
    var signature: String {
        switch self {
        case .text: "s"
        case .number: "t"
        case .texts: "as"
        case .table: "a{sv}"
        case .tables: "a{sa{sv}}"
        }
    }

    /// The number of single values, as a measure of the work for a message.
    var size: Int {
        switch self {
        case .text, .number: 1
        case .texts(let texts): texts.count
        case .table(let table): table.values.reduce(1) { $0 + $1.size }
        case .tables(let tables): tables.values.reduce(1) { $0 + $1.count }
        }
    }
}

/// The functions of libsystemd.
///
/// C counterpart: `dlopen(3)` of `libsystemd.so.0`.
struct BusLibrary: @unchecked Sendable {
    let functions: csystemd

    /// The functions; nil if the library is missing or too old.
    static let shared: BusLibrary? = withUnsafeTemporaryAllocation(of: csystemd.self, capacity: 1) { memory in
        guard let functions = memory.baseAddress, csystemd_load(functions) == 1 else { return nil }
        return BusLibrary(functions: functions.pointee)
    }
}

/// A message that is being written. The first error is kept, and ``send(on:)`` returns it.
///
/// C counterpart: `sd_bus_message_append_basic(3)`, `sd_bus_message_open_container(3)`, `sd_bus_send(3)`.
struct BusMessage: ~Copyable {
    private let library: csystemd
    private let message: OpaquePointer?
    private var code: CInt

    /// - Parameter create: Creates the message, and returns a negative error number on failure.
    init(_ library: csystemd, _ create: (UnsafeMutablePointer<OpaquePointer?>) -> CInt) {
        var message: OpaquePointer?
        code = create(&message)
        (self.library, self.message) = (library, message)
    }

    deinit {
        if let message { _ = library.message_unref(message) }
    }

    mutating func append(_ value: BusValue) {
        switch value {
        case .text(let text): text.onBus.withCString { append("s", $0) }
        case .number(let number): withUnsafePointer(to: number) { append("t", $0) }
        case .texts(let texts):
            within("a", "s") { array in
                for text in texts { array.append(.text(text)) }
            }
        case .table(let table):
            within("a", "{sv}") { array in
                for (key, value) in table {
                    array.within("e", "sv") { entry in
                        entry.append(.text(key))
                        entry.append(variant: value)
                    }
                }
            }
        case .tables(let tables):
            within("a", "{sa{sv}}") { array in
                for (key, table) in tables {
                    array.within("e", "sa{sv}") { entry in
                        entry.append(.text(key))
                        entry.append(.table(table))
                    }
                }
            }
        }
    }

    mutating func append(variant value: BusValue) {
        within("v", value.signature) { $0.append(value) }
    }

    /// Sends the message, and returns a negative error number on failure.
    ///
    /// - Parameter bus: The connection; nil for that of the answered call.
    consuming func send(on bus: OpaquePointer? = nil) -> CInt {
        guard let message, code >= 0 else { return code }
        return library.send(bus, message, nil)
    }

    private mutating func append(_ type: Unicode.Scalar, _ value: UnsafeRawPointer) {
        record { [library] in library.message_append_basic($0, CChar(truncatingIfNeeded: type.value), value) }
    }

    /// Appends a container with the elements that `body` appends.
    private mutating func within(_ type: Unicode.Scalar, _ contents: String, _ body: (inout BusMessage) -> Void) {
        record { [library] in library.message_open_container($0, CChar(truncatingIfNeeded: type.value), contents) }
        body(&self)
        record { [library] in library.message_close_container($0) }
    }

    private mutating func record(_ step: (OpaquePointer) -> CInt) {
        guard let message, code >= 0 else { return }
        code = min(code, step(message))
    }
}

extension String {
    /// The text without the characters that D-Bus does not permit, which are replaced.
    fileprivate var onBus: String {
        func isPermitted(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value != 0 && !scalar.properties.isNoncharacterCodePoint
        }
        if unicodeScalars.allSatisfy(isPermitted) { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { isPermitted($0) ? $0 : "\u{fffd}" }))
    }
}
