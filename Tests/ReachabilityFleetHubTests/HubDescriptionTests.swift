import Foundation
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityServer

/// The OpenAPI description of a hub. `Scripts/test-service api` tests all requests of it.
@Suite struct HubDescriptionTests {
    @Test func `the description contains exactly the routes of the hub`() throws {
        let world = try HubWorld()
        // Pages and their assets are not part of the API.
        let routes = world.api.router.routes.filter { $0.access != .page && $0.path[0] != "assets" }
        var methods: [String: Set<String>] = [:]
        for route in routes {
            let path = "/" + route.path.joined(separator: "/")
            methods[path, default: []].insert(route.method.rawValue.lowercased())
        }
        #expect(try Description(world).paths.mapValues { Set($0.keys) } == methods)
    }

    @Test func `responses have exactly the described keys`() throws {
        let world = try HubWorld.twoSites()
        let leaving = DeviceState(session: "a", standing: .leaving, report: report(250))
        world.receive([Hub.Message(topic: "reach/v1/north/d2/state", payload: leaving.bytes, time: at(250))])
        let description = try Description(world)
        for target in ["/v1/status", "/v1/sites", "/v1/devices", "/v1/incidents", "/v1/events", "/readyz"] {
            try description.check(world.object(target), of: target)
        }
        let id = try #require(try world.items("/v1/incidents").first?["id"] as? String)
        try description.check(world.object("/v1/incidents/\(id)"), of: "/v1/incidents/{id}")
        for device in ["d0", "d1", "d2"] {
            try description.check(world.object("/v1/devices/north/\(device)"), of: "/v1/devices/{site}/{device}")
        }
        try description.check(world.object("/v1/incidents/none"), as: ["$ref": "#/components/schemas/Problem"])
    }
}

/// The document `openapi.json` of a hub.
private struct Description {
    let document: [String: Any]
    var paths: [String: [String: Any]] { document["paths"] as? [String: [String: Any]] ?? [:] }

    init(_ world: HubWorld) throws {
        document = try world.object("/openapi.json")
    }

    /// Checks that the response to GET has the described keys.
    func check(_ answer: [String: Any], of path: String) throws {
        let schema = Self.value(paths[path], "get", "responses", "200", "content", "application/json", "schema")
        check(answer, as: try #require(schema as? [String: Any]), at: path)
    }

    /// Checks that a value has the required keys of a schema, and only keys of the schema.
    func check(_ value: Any, as schema: [String: Any], at place: String = "") {
        let schema = whole(schema)
        if let values = value as? [Any] {
            let items = schema["items"] as? [String: Any] ?? [:]
            for (index, value) in values.enumerated() { check(value, as: items, at: "\(place)[\(index)]") }
        }
        guard let object = value as? [String: Any] else { return }
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        let missing = Set(schema["required"] as? [String] ?? []).subtracting(object.keys)
        let unknown = Set(object.keys).subtracting(properties.keys)
        #expect(missing.isEmpty && unknown.isEmpty, "\(place): \(missing) are missing, \(unknown) not described")
        for (key, value) in object { check(value, as: properties[key] ?? [:], at: "\(place).\(key)") }
    }

    /// Returns a schema with its references resolved, for objects only.
    private func whole(_ schema: [String: Any]) -> [String: Any] {
        var parts = [schema]
        if let reference = schema["$ref"] as? String {
            let keys = reference.split(separator: "/").dropFirst().map(String.init)
            let target = keys.reduce(document as Any?) { Self.value($0, $1) }
            parts.append(whole(target as? [String: Any] ?? [:]))
        }
        for word in ["allOf", "anyOf"] { parts += (schema[word] as? [[String: Any]] ?? []).map(whole) }
        return parts.reduce(into: [:]) { whole, part in
            let known = whole["properties"] as? [String: Any] ?? [:]
            let required = whole["required"] as? [String] ?? []
            whole.merge(part) { $1 }
            whole["properties"] = known.merging(part["properties"] as? [String: Any] ?? [:]) { $1 }
            whole["required"] = required + (part["required"] as? [String] ?? [])
        }
    }

    private static func value(_ object: Any?, _ keys: String...) -> Any? {
        keys.reduce(object) { ($0 as? [String: Any])?[$1] }
    }
}
