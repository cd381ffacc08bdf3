import LinuxPrimitives
import Netlink

extension ByteEncoder {
    /// A list of addresses: the bytes of each, and its zone, 0 for none.
    mutating func add(_ addresses: [NameLookup.Address]) {
        add(number: UInt64(addresses.count))
        for address in addresses {
            add(address.address.bytes)
            add(number: UInt64(address.zone ?? 0))
        }
    }

    mutating func add(_ hardware: LinkHardware) {
        add(number: hardware.wireless.map { UInt64($0.rawValue) + 1 } ?? 0)
        add(hardware.deviceType ?? "")
        add(hardware.driver ?? "")
    }

    /// A flag, whether they are known, and the list: the bytes of the address, empty for none; the mark; the prefixes.
    mutating func add(_ ends: [TunnelFarEnd]?) {
        add(ends != nil)
        add(number: UInt64(ends?.count ?? 0))
        for end in ends ?? [] {
            add(end.address?.bytes ?? [])
            add(number: UInt64(end.mark))
            add(number: UInt64(end.accepted?.count ?? 0))
            for prefix in end.accepted ?? [] {
                add(prefix.address.bytes)
                add(number: UInt64(prefix.length))
            }
        }
    }

    /// What became of an attempt: 0 and what it brought, or 1 and why it failed.
    mutating func add(_ outcome: Result<[UInt8], NetlinkError>) {
        switch outcome {
        case .success(let answer):
            add(0)
            add(rest: answer)
        case .failure(let error):
            add(1)
            add(error.attempt)
            add(number: UInt64(UInt32(bitPattern: error.cause.rawValue)))
            switch error.stage {
            case .namespace: add(0)
            case .socket: add(1)
            case .filter: add(2)
            }
        }
    }
}

extension ByteDecoder {
    mutating func addresses() throws(Malformed) -> [NameLookup.Address] {
        var addresses: [NameLookup.Address] = []
        for _ in 0..<(try count()) {
            guard let address = WireAddress(bytes: try block()) else { throw Malformed() }
            let zone = try number(UInt32.self)
            addresses.append(NameLookup.Address(address, zone: zone == 0 ? nil : zone))
        }
        return addresses
    }

    mutating func hardware() throws(Malformed) -> LinkHardware {
        let role = try number(UInt32.self)
        let (deviceType, driver) = (try text(), try text())
        return LinkHardware(
            wireless: role == 0 ? nil : WirelessRole(rawValue: role - 1),
            deviceType: deviceType.isEmpty ? nil : deviceType,
            driver: driver.isEmpty ? nil : driver
        )
    }

    mutating func farEnds() throws(Malformed) -> [TunnelFarEnd]? {
        let isKnown = try flag()
        var ends: [TunnelFarEnd] = []
        for _ in 0..<(try count()) {
            let address = WireAddress(bytes: try block())
            let mark = try number(UInt32.self)
            var accepted: [AddressPrefix] = []
            for _ in 0..<(try count()) {
                guard let address = WireAddress(bytes: try block()) else { throw Malformed() }
                accepted.append(AddressPrefix(address, length: Int(try number(UInt8.self))))
            }
            ends.append(TunnelFarEnd(address, accepting: accepted, mark: mark))
        }
        return isKnown ? ends : nil
    }

    /// How many values follow, each of which has at least a byte.
    private mutating func count() throws(Malformed) -> Int {
        let count = try number(Int.self)
        guard count <= rest.count else { throw Malformed() }
        return count
    }

    mutating func outcome() throws(Malformed) -> Result<[UInt8], NetlinkError> {
        if try flag() {
            let attempt = try text()
            let cause = SystemError(rawValue: CInt(bitPattern: try number(UInt32.self)))
            let stage: NetlinkError.Stage =
                switch try byte() {
                case 0: .namespace
                case 1: .socket
                case 2: .filter
                default: throw Malformed()
                }
            return .failure(NetlinkError(attempt, cause, stage: stage))
        }
        return .success(remainder())
    }
}
