import ReachabilityFleet

/// Which machines and incidents of a hub have changed since they were saved. How they are is read when they are saved. A value.
struct UnsavedChanges {
    var devices: Set<FleetPlace> = []
    /// The machines of each incident, by its id.
    private var incidents: [String: Set<FleetPlace>] = [:]

    mutating func add(_ decisions: [Hub.Decision]) {
        for decision in decisions {
            switch decision {
            case .noted(let place), .stands(let place, _), .gap(let place), .disputed(let place): devices.insert(place)
            case .incident(let change): incidents[change.incident, default: []].insert(change.place)
            case .refused, .behind: break
            }
        }
    }

    /// How they are now.
    func changes(of hub: Hub) -> HubChanges {
        var changes = HubChanges()
        changes.devices = devices.compactMap { hub.devices[$0] }
        for (id, places) in incidents {
            guard let site = places.first?.site, let incident = hub.book.incident(id, at: site) else { continue }
            changes.add(incident, places.map(\.device))
        }
        return changes
    }
}
