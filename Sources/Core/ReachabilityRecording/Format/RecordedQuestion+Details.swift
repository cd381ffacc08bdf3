import Netlink

extension RecordedQuestion {
    static func hardware(of link: Link) -> RecordedQuestion {
        var encoder = ByteEncoder()
        encoder.add(number: UInt64(link.index))
        encoder.add(link.name)
        return RecordedQuestion(.hardware, encoder.bytes)
    }

    static func activity(ofPort port: UInt32) -> RecordedQuestion {
        var encoder = ByteEncoder()
        encoder.add(number: UInt64(port))
        return RecordedQuestion(.activity, encoder.bytes)
    }
}

extension ProcessActivity {
    var recorded: UInt8 {
        switch self {
        case .atWork: 0
        case .atRest: 1
        case .unknown: 2
        }
    }

    init(recorded: UInt8?) {
        switch recorded {
        case 0: self = .atWork
        case 1: self = .atRest
        default: self = .unknown
        }
    }
}
