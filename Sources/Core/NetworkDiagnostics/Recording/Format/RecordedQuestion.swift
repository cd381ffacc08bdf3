import Netlink

/// A question to the outside world. Equal questions are equal values, whenever they are asked.
package struct RecordedQuestion: Hashable, Sendable {
    /// Who was asked, and for what.
    package enum Subject: UInt8, Hashable, Sendable, CaseIterable {
        /// A netlink request; the detail is its bytes with the sequence number zero, the answer an `Outcome`.
        case netlink = 1
        /// Whether a connection is to be had; the answer is an `Outcome`.
        case connect = 2
        /// Whether changes are to be heard of; the answer is an `Outcome`.
        case listen = 3
        /// Whether the kernel takes a filter; the answer is an `Outcome`.
        case filter = 4
        /// Whether the namespace is still the one meant; the answer is a flag.
        case isCurrent = 5
        /// Of older recordings: whether more had been heard while somebody waited; the answer is a flag, and the messages stand
        /// before it.
        case moreMessages = 6
        /// Of older recordings: what a process did that had a netlink port, which is the detail; the answer is a byte.
        case activity = 7
        /// What the device behind a link tells; the detail is the link, the answer a `LinkHardware`.
        case hardware = 8
        /// What the hosts file knows of a name, which is the detail; the answer is a list of addresses.
        case localAddresses = 9
        /// Whether the namespace can be watched; the answer is a flag.
        case watchesNamespace = 10
        /// Whether sleep can be noticed; the answer is a flag.
        case watchesSleep = 11
        /// Whether the name service's configuration can be watched; the answer is a flag.
        case watchesNames = 12
        /// CLOCK_MONOTONIC; the answer is the time of the record.
        case monotonic = 13
        /// CLOCK_BOOTTIME; the answer is how much later it is than CLOCK_MONOTONIC.
        case boot = 14
        /// The time a line is printed with; the answer is CLOCK_REALTIME, and the time of the record.
        case moment = 15
        /// A question to the name service, the detail its name; the answer is the number its answer will have.
        case resolve = 16
        /// A timer, the detail empty; the answer is its number and its delay.
        case schedule = 17
        /// Something to be done soon; the answer is its number.
        case soon = 18
        /// The peers of a WireGuard interface; the detail is the index of the interface, the answer a list of `TunnelFarEnd`.
        case peers = 19
    }

    package var subject: Subject
    package var detail: [UInt8]

    package init(_ subject: Subject, _ detail: [UInt8] = []) {
        self.subject = subject
        self.detail = detail
    }
}

extension RecordedQuestion {
    static func hardware(of link: Link) -> RecordedQuestion {
        var encoder = ByteEncoder()
        encoder.add(number: UInt64(link.index))
        encoder.add(link.name)
        return RecordedQuestion(.hardware, encoder.bytes)
    }

    static func peers(of link: UInt32) -> RecordedQuestion {
        var encoder = ByteEncoder()
        encoder.add(number: UInt64(link))
        return RecordedQuestion(.peers, encoder.bytes)
    }
}
