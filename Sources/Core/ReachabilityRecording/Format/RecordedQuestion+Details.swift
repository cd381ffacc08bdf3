import Netlink

extension RecordedQuestion {
    static func hardware(of link: Link) -> RecordedQuestion {
        var encoder = ByteEncoder()
        encoder.add(number: UInt64(link.index))
        encoder.add(link.name)
        return RecordedQuestion(.hardware, encoder.bytes)
    }
}
