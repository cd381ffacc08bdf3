import Netlink

extension FakeNetwork {
    /// Lets the carrier of every link that runs over others follow theirs.
    ///
    /// Linux tells of a bridge about a second later; here it is told at once.
    mutating func settleUppers() {
        for device in devices {
            guard let isPlugged = carrierFromBelow(device), isPlugged != device.isPlugged else { continue }
            update(device.link.index) { $0.isPlugged = isPlugged }
            announceCarrier(device.link.index)
        }
    }

    /// Nil where nothing below decides.
    private func carrierFromBelow(_ device: Device) -> Bool? {
        if device.kind.followsLower, let lower = device.link.lowerIndex {
            return self.device(lower)?.hasCarrier ?? false
        }
        guard device.kind.followsPorts else { return nil }
        let ports = devices.filter { $0.link.controllerIndex == device.link.index }
        return ports.isEmpty ? nil : ports.contains(where: \.hasCarrier)
    }
}
