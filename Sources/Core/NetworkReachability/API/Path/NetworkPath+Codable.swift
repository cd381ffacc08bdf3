import LinuxSupport

/// The keys and values of the command's JSON output, schema 1: keys may be added, none is renamed or taken away.
extension NetworkPath: Codable {
    private enum Key: String, CodingKey {
        case schema, status, connectionType, flags, interface, interfaceType, gateway, source, reason, generation
        case underlyingInterfaces, destination, supportsIPv4, supportsIPv6, flapping
        // Beside those of the command: what makes the decoded path the same as the encoded one.
        case interfaces, table, mtu
    }

    /// Writes all of it but the time, the target and the namespace, which a path does not have.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .schema)
        switch status {
        case .unknown: try container.encode("unknown", forKey: .status)
        case .notReachable: try container.encode("notReachable", forKey: .status)
        case .reachable(let type):
            try container.encode("reachable", forKey: .status)
            try container.encode(type.rawValue, forKey: .connectionType)
        }
        try container.encode(flags?.names ?? [], forKey: .flags)
        try container.encodeIfPresent(interface?.name, forKey: .interface)
        try container.encodeIfPresent(interface?.type.rawValue, forKey: .interfaceType)
        try container.encodeIfPresent(gateway, forKey: .gateway)
        try container.encodeIfPresent(source, forKey: .source)
        try container.encodeIfPresent(reason?.rawValue, forKey: .reason)
        try container.encode(generation, forKey: .generation)
        try container.encode(interface?.underlying.map(\.name) ?? [], forKey: .underlyingInterfaces)
        try container.encodeIfPresent(destination, forKey: .destination)
        try container.encode(supportsIPv4, forKey: .supportsIPv4)
        try container.encode(supportsIPv6, forKey: .supportsIPv6)
        try container.encode(isFlapping, forKey: .flapping)
        try container.encode((interface.map { [$0] } ?? []) + common.otherInterfaces, forKey: .interfaces)
        try container.encodeIfPresent(table, forKey: .table)
        try container.encodeIfPresent(mtu, forKey: .mtu)
    }

    /// Reads what ``encode(to:)`` wrote, and the lines of the command. Keys that are not known are passed over.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let schema = try container.decodeIfPresent(Int.self, forKey: .schema) ?? 1
        guard schema == 1 else {
            let text = "schema \(schema) is not known: this version reads schema 1"
            throw DecodingError.dataCorruptedError(forKey: .schema, in: container, debugDescription: text)
        }
        self.init()
        let names = try container.decodeIfPresent([String].self, forKey: .flags) ?? []
        let isKnown = try container.decode(String.self, forKey: .status) != "unknown"
        common.flags = isKnown ? NetworkReachabilityFlags(names: names) : nil
        common.reason = try container.decodeIfPresent(UnsatisfiedReason.self, forKey: .reason)
        common.gateway = try container.decodeIfPresent(IPAddress.self, forKey: .gateway)
        common.source = try container.decodeIfPresent(IPAddress.self, forKey: .source)
        common.table = try container.decodeIfPresent(UInt32.self, forKey: .table)
        common.mtu = try container.decodeIfPresent(UInt32.self, forKey: .mtu)
        common.supportsIPv4 = try container.decodeIfPresent(Bool.self, forKey: .supportsIPv4) ?? false
        common.supportsIPv6 = try container.decodeIfPresent(Bool.self, forKey: .supportsIPv6) ?? false
        destination = try container.decodeIfPresent(IPAddress.self, forKey: .destination)
        isFlapping = try container.decodeIfPresent(Bool.self, forKey: .flapping) ?? false
        generation = try container.decodeIfPresent(UInt64.self, forKey: .generation) ?? 0
        if let interfaces = try container.decodeIfPresent([NetworkInterface].self, forKey: .interfaces) {
            common.interface = interfaces.first
            common.otherInterfaces = Array(interfaces.dropFirst())
        } else if let name = try container.decodeIfPresent(String.self, forKey: .interface) {
            let type = try container.decodeIfPresent(InterfaceType.self, forKey: .interfaceType) ?? .other
            let lower = try container.decodeIfPresent([String].self, forKey: .underlyingInterfaces) ?? []
            let underlying = lower.map { NetworkInterface(index: 0, name: $0, type: .other) }
            common.interface = NetworkInterface(index: 0, name: name, type: type, underlying: underlying)
        }
    }
}

extension NetworkPath.UnsatisfiedReason: Codable {}

extension IPAddress: Codable {
    /// Writes its text, with its zone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Reads the text of an address.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = IPAddress(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\"\(text.printable)\" is no IP address"
            )
        }
        self = address
    }
}

extension NetworkReachabilityFlags {
    /// The flags with these names; others are passed over.
    fileprivate init(names: [String]) {
        self = Self.known.reduce(into: []) { if names.contains($1.1) { $0.insert($1.0) } }
    }
}
