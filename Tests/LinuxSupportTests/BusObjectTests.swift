import BusLab
import Glibc
import LinuxSupport
import NetworkLab
import Testing

@testable import SystemBus

/// Objects on a private system bus.
@Suite(.enabled(if: BusLab.isPossible)) struct BusObjectTests {
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let members =
        #"<property name="Status" type="s" access="read"/><property name="Rows" type="a{sa{sv}}" access="read"/>"#
    private let values: [String: BusValue] = [
        "Status": .text("up"), "Since": .number(7), "Rows": .tables(["a": ["x": .number(1)]]),
    ]
    private let errors = Locked<[String]>([])

    private func object(_ lab: BusLab, _ values: [String: BusValue]? = nil) throws -> BusObject {
        try BusObject(BusLab.name, members: Self.members, values ?? self.values, at: lab.address) { [errors] text in
            errors.withLock { $0.append(text) }
        }
    }

    private func published(_ lab: BusLab) async throws -> BusObject {
        let object = try object(lab)
        try await waitUntil { try await lab.property("Status") == #"s "up""# }
        return object
    }

    @Test func `the properties are readable, and nothing is writable`() async throws {
        let lab = try await BusLab()
        let object = try await published(lab)
        #expect(try await lab.property("Since") == "t 7")
        #expect(try await lab.property("Rows") == #"a{sa{sv}} 1 "a" 1 "x" t 1"#)
        #expect(try await lab.call(Self.properties, "GetAll", "s", "").hasPrefix("a{sv} 3 "))
        #expect(try await lab.busctl(["introspect", BusLab.name, BusLab.path]).contains(".Status "))
        #expect(try await lab.busctl(["tree", BusLab.name]).contains(BusLab.path))
        let refused = try await lab.call(Self.properties, "Set", "ssv", BusLab.name, "Status", "s", "x")
        #expect(refused.contains("all properties are read-only"))
        #expect(errors.withLock { $0 } == [])
        object.stop()
        try await waitUntil { try await !lab.busctl(["list"]).contains(BusLab.name) }
    }

    @Test(arguments: [
        (["Get", "s", BusLab.name], "the call takes 2 strings"),
        (["Get", "su", BusLab.name, "1"], "the call takes 2 strings"),
        (["Get", "ss", BusLab.name, "Nothing"], "Unknown interface"),
        (["Get", "ss", "org.example.Other", "Status"], "Unknown interface"),
        (["GetAll"], "the call takes one string"),
        (["GetAll", "as", "1", "x"], "the call takes one string"),
        (["GetAll", "s", "org.example.Other"], "nknown"),
        (["Nothing"], "Unknown method"),
    ])
    func `a malformed call gets an error, and the next call an answer`(words: [String], error: String) async throws {
        let lab = try await BusLab()
        let object = try await published(lab)
        let answer = try await lab.busctl(["call", BusLab.name, BusLab.path, Self.properties] + words)
        #expect(answer.contains(error), "\(answer)")
        #expect(try await lab.property("Status") == #"s "up""#)
        object.stop()
    }

    @Test func `changes are reported, tables with their changed entries`() async throws {
        let lab = try await BusLab()
        let object = try await published(lab)
        let monitor = try await lab.monitor()
        var next = values
        next["Status"] = .text("down")
        next["Rows"] = .tables(["a": ["x": .number(1)], "c": ["x": .number(3)]])
        object.publish(next)
        object.publish(next)
        var lines: [Substring] = []
        try await waitUntil {
            lines = String(decoding: monitor.drain(), as: UTF8.self).split(separator: "\n")
            return lines.count >= 2
        }
        let changed = #"{"Status":{"type":"s","data":"down"}},["Rows"]]"#
        #expect(lines[0].contains(#""member":"PropertiesChanged""#) && lines[0].contains(changed), "\(lines[0])")
        let rows = #""data":[{"c":{"x":{"type":"t","data":3}}}]"#
        #expect(lines[1].contains(#""member":"Changed""#) && lines[1].contains(rows), "\(lines[1])")
        #expect(lines.count == 2)
        #expect(try await lab.property("Status") == #"s "down""#)
        object.stop()
    }

    @Test func `an object appears when the bus starts, and again after a restart of the bus`() async throws {
        let lab = try await BusLab(isStarted: false)
        let object = try object(lab)
        try await waitUntil { !errors.withLock(\.isEmpty) }
        try await lab.start()
        try await waitUntil { try await lab.property("Status") == #"s "up""# }
        lab.stop()
        var next = values
        next["Status"] = .text("down")
        object.publish(next)
        try await lab.start()
        try await waitUntil { try await lab.property("Status") == #"s "down""# }
        let first = errors.withLock { $0.first ?? "" }
        #expect(
            first
                == "cannot publish \(BusLab.name) on the system bus at \(lab.address): No such file or directory; "
                + "install and start dbus; the service tries again"
        )
        object.stop()
    }

    @Test func `a refused name and a name of another process are reported once`() async throws {
        let lab = try await BusLab(hasPolicy: false)
        let object = try object(lab)
        try await waitUntil { !errors.withLock(\.isEmpty) }
        object.stop()
        #expect(errors.withLock { $0 }.count == 1)
        #expect(
            errors.withLock { $0[0] }.contains("Permission denied; a file \(BusLab.name).conf in /etc/dbus-1/system.d")
        )

        let other = try await BusLab()
        let first = try await published(other)
        let second = try self.object(other)
        try await waitUntil { errors.withLock(\.count) >= 2 }
        #expect(errors.withLock { $0[1] }.contains("File exists; another process has the name"))
        let owner = try await other.owner()
        first.stop()
        // The second object gets the name.
        try await waitUntil {
            let (next, status) = (try await other.owner(), try await other.property("Status"))
            return next != owner && status == #"s "up""#
        }
        second.stop()
    }

    @Test func `an invalid address is reported`() async throws {
        let object = try BusObject(BusLab.name, members: Self.members, values, at: "nonsense") { [errors] text in
            errors.withLock { $0.append(text) }
        }
        try await waitUntil { !errors.withLock(\.isEmpty) }
        object.stop()
        #expect(errors.withLock { $0[0] }.contains("bus at nonsense: Connection refused; install and start dbus"))
    }

    @Test func `characters that the bus does not permit are replaced`() async throws {
        let lab = try await BusLab()
        let text = "é\u{0}\u{fffe}\u{1f600}"
        let object = try object(lab, ["Status": .text(text), "Rows": .tables([text: ["\u{ffff}": .text("")]])])
        try await waitUntil { try await lab.call("org.freedesktop.DBus.Peer", "Ping").isEmpty }
        let answer = try await lab.busctl([
            "--json=short", "get-property", BusLab.name, BusLab.path, BusLab.name, "Status", "Rows",
        ])
        let replaced = "é\u{fffd}\u{fffd}\u{1f600}"
        #expect(answer.contains(replaced), "\(answer)")
        object.stop()
    }

    @Test func `ten thousand entries are read in one message and reported in several`() async throws {
        let lab = try await BusLab()
        let object = try await published(lab)
        let monitor = try await lab.monitor()
        let rows = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ("target-\($0)", ["x": BusValue.number(1)]) })
        object.publish(["Status": .text("many"), "Rows": .tables(rows)])
        var lines: [Substring] = []
        try await waitUntil {
            lines = String(decoding: monitor.drain(), as: UTF8.self).split(separator: "\n")
            return lines.count >= 11
        }
        #expect(lines.filter { $0.contains(#""member":"Changed""#) }.count == 10)
        #expect(try await lab.property("Rows").hasPrefix("a{sa{sv}} 10000 "))
        object.stop()
    }

    /// A client that floods the object gets errors, and another client gets answers meanwhile.
    @Test(.enabled(if: BusLab.has("python3"))) func `a client that floods the object does not stop others`()
        async throws
    {
        let lab = try await BusLab()
        // A large answer, of which a client gets a few each second.
        var next = values
        let rows = (0..<1000).map { ("row-\($0)", ["x": BusValue.number(1)]) }
        next["Rows"] = .tables(Dictionary(uniqueKeysWithValues: rows))
        let object = try object(lab, next)
        try await waitUntil { try await lab.property("Status") == #"s "up""# }
        let words = ["-c", Self.flood, String(lab.address.dropFirst("unix:path=".count)), BusLab.name, BusLab.path]
        let flood = try LabProcess("python3", words)
        for number in 1...5 {
            next["Since"] = .number(UInt64(100 + number))
            object.publish(next)
            try await waitUntil { try await lab.property("Since") == "t \(100 + number)" }
        }
        var counts: [Int] = []
        try await waitUntil {
            counts = String(decoding: flood.drain(), as: UTF8.self).split(separator: " ").compactMap { Int($0) }
            return counts.count == 2
        }
        #expect(counts[0] > 0 && counts[1] > 0, "\(counts) \(String(decoding: flood.errors, as: UTF8.self))")
        #expect(counts.reduce(0, +) == 20_000)
        object.stop()
    }

    /// Sends 20,000 calls without waiting, then prints the numbers of answers and of errors. The bytes follow the D-Bus specification.
    private static let flood = """
        import socket, struct, sys, threading
        place, name, path = sys.argv[1:]
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(place)
        bus.send(b"\\0AUTH EXTERNAL\\r\\nDATA\\r\\n")
        while b"OK" not in bus.recv(1024): pass
        bus.send(b"BEGIN\\r\\n")
        def text(value): return struct.pack("<I", len(value)) + value.encode() + b"\\0"
        def padded(data, size=8): return data + b"\\0" * (-len(data) % size)
        def call(serial, destination, path, interface, member, body=b"", signature=""):
            fields = b""
            for code, kind, value in ((1, "o", path), (6, "s", destination), (2, "s", interface), (3, "s", member)):
                fields = padded(fields) + bytes([code, 1, ord(kind), 0]) + text(value)
            if signature:
                fields = padded(fields) + bytes([8, 1, ord("g"), 0, len(signature)]) + signature.encode() + b"\\0"
            head = struct.pack("<BBBBIII", ord("l"), 1, 0, 1, len(body), serial, len(fields))
            return padded(head + fields) + body
        bus.sendall(call(1, "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "Hello"))
        count, counts = 20000, {2: 0, 3: 0}
        def send():
            for serial in range(2, count + 2):
                bus.sendall(call(serial, name, path, "org.freedesktop.DBus.Properties", "GetAll", text(name), "s"))
        threading.Thread(target=send).start()
        data, answers = b"", -1
        while answers < count:
            part = bus.recv(1 << 16)
            if not part: break
            data += part
            while len(data) >= 16:
                _, kind, _, _, body, _, fields = struct.unpack_from("<BBBBIII", data)
                size = 16 + fields + -fields % 8 + body
                if len(data) < size: break
                data = data[size:]
                if kind in counts:
                    answers += 1
                    if answers > 0: counts[kind] += 1
        print(counts[2], counts[3], "", flush=True)
        """
}

/// The allowance of each client.
@Suite struct CallAllowanceTests {
    @Test func `a client that exceeds its allowance waits for the next second, and others do not`() {
        var allowance = CallAllowance()
        let first = allowance.admits("a", at: .milliseconds(1500))
        allowance.charge("a", CallAllowance.limit)
        let rest = [("a", 1999), ("b", 1999), ("a", 2000)].map { allowance.admits($0, at: .milliseconds($1)) }
        #expect(first && rest == [false, true, true])
    }

    @Test func `the size of a value is the number of its values`() {
        #expect(BusValue.text("x").size == 1)
        #expect(BusValue.texts(["a", "b"]).size == 2)
        #expect(BusValue.tables(["a": ["x": .number(1), "y": .number(2)]]).size == 3)
        #expect(BusValue.table(["a": .text(""), "b": .tables(["a": ["x": .number(1)]])]).size == 4)
    }
}
