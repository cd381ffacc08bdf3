import Foundation
import Testing

/// A line of schema 1, its keys and types checked.
struct JSONLine {
    let members: [String: Any]

    /// Which values each key may have.
    private static let schema: [String: @Sendable (Any) -> Bool] = [
        "schema": { $0 as? Int == 1 },
        "time": { ($0 as? String)?.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil },
        "monotonicNanoseconds": { $0 is Int },
        "target": isTextOrNull,
        "status": { ["reachable", "notReachable", "unknown"].contains($0 as? String) },
        "connectionType": { $0 is NSNull || ["ethernetOrWiFi", "wwan"].contains($0 as? String) },
        "flags": { $0 is [String] },
        "interface": isTextOrNull,
        "interfaceType": isTextOrNull,
        "gateway": isTextOrNull,
        "source": isTextOrNull,
        "reason": isTextOrNull,
        "generation": { ($0 as? Int).map { $0 > 0 } ?? false },
        "underlyingInterfaces": { $0 is [String] },
        "destination": isTextOrNull,
        "supportsIPv4": { $0 is Bool },
        "supportsIPv6": { $0 is Bool },
        "flapping": { $0 is Bool },
        "namespace": isTextOrNull,
        "kind": { ["path", "evidence"].contains($0 as? String) },
    ]

    private static let isTextOrNull: @Sendable (Any) -> Bool = { $0 is NSNull || $0 is String }

    init(_ line: some StringProtocol) throws {
        members = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        for (key, isValid) in Self.schema {
            let value = try #require(members[key], "the key \(key) is missing")
            #expect(isValid(value), "\(key) is \(value)")
        }
        // A type and a reason exclude each other, and each belongs to its status.
        #expect((self["status"] == "reachable") == (self["connectionType"] != nil))
        #expect((self["status"] == "reachable") == (self["reason"] == nil))
    }

    /// The text of a key; nil for null.
    subscript(key: String) -> String? { members[key] as? String }
}
