import CLinux
import LinuxPrimitives

/// How questions stand in requests, and what the answers mean.
extension RequestBuilder {
    /// Appends the request of a question that has one answer.
    mutating func append(_ question: KernelQuestion, sequence: UInt32) {
        switch question {
        case .link(let index), .isIPv6Disabled(let index): append(link: index, name: nil, sequence: sequence)
        case .linkNamed(let name): append(link: 0, name: name, sequence: sequence)
        case .route(let query): append(query, sequence: sequence)
        case .nextHopObject(let number):
            begin(.getNextHop, sequence: sequence)
            append(nhmsg())
            append(attribute: Int(NHA_ID), number)
        case .neighbour(let address, let link):
            begin(.getNeighbour, sequence: sequence)
            var head = ndmsg()
            head.ndm_family = address.family.rawValue
            head.ndm_ifindex = Int32(bitPattern: link)
            append(head)
            append(attribute: Int(NDA_DST), address)
        case .links, .addresses, .rules, .routesCovering, .hardware:
            preconditionFailure("\(question) is no question with one answer")
        }
    }

    private mutating func append(link index: UInt32, name: String?, sequence: UInt32) {
        begin(.getLink, sequence: sequence)
        append(ifinfomsg(index: index))
        if let name { append(attribute: IFLA_IFNAME, text: name) }
        // Statistics and VF lists are long and not wanted.
        append(attribute: IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    }
}

extension KernelAnswer {
    /// The answer to a question that has one, by the body of the message or the error that came.
    ///
    /// What is not there, and what is not told, is nil in the answer; any other refusal is thrown.
    init(_ answer: Result<UnsafeRawBufferPointer, SystemError>, to question: KernelQuestion) throws(NetlinkError) {
        switch question {
        case .route:
            self = .route(answer.flatMap { Route(body: $0).map(Result.success) ?? .failure(.badMessage) })
        case .link, .linkNamed: self = .link(try Self.decoded(answer, Link.init(body:)))
        case .nextHopObject: self = .nextHopObject(try Self.decoded(answer, NextHopObject.init(body:)))
        case .neighbour: self = .neighbour(try? Self.decoded(answer, Neighbour.init(body:)))
        case .isIPv6Disabled: self = .isIPv6Disabled(try? Self.decoded(answer, Self.isIPv6Disabled))
        case .links, .addresses, .rules, .routesCovering, .hardware:
            preconditionFailure("\(question) is no question with one answer")
        }
    }

    private static func decoded<Value>(
        _ answer: Result<UnsafeRawBufferPointer, SystemError>,
        _ decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(NetlinkError) -> Value? {
        switch answer {
        case .success(let body): return decode(body)
        case .failure(.noDevice), .failure(.noEntry): return nil
        case .failure(let cause): throw NetlinkError("ask the kernel about a link or next hop", cause)
        }
    }

    /// C counterpart: IFLA_INET6_CONF in IFLA_AF_SPEC of RTM_GETLINK.
    private static func isIPv6Disabled(_ body: UnsafeRawBufferPointer) -> Bool? {
        func nest(_ type: Int, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
            for (found, value) in Attributes(bytes) where found == type { return value }
            return nil
        }
        // DEVCONF_DISABLE_IPV6 of <linux/ipv6.h>, IFLA_INET6_CONF of <linux/if_link.h>.
        let (disabled, settings) = (26, 2)
        return nest(Int(IFLA_AF_SPEC), in: body.bytes(from: MemoryLayout<ifinfomsg>.size))
            .flatMap { nest(Int(AF_INET6), in: $0) }
            .flatMap { nest(settings, in: $0) }
            .flatMap { $0.load(Int32.self, at: disabled * MemoryLayout<Int32>.size) }
            .map { $0 != 0 }
    }
}

extension ifinfomsg {
    init(index: UInt32) {
        self.init(
            ifi_family: 0,
            __ifi_pad: 0,
            ifi_type: 0,
            ifi_index: Int32(bitPattern: index),
            ifi_flags: 0,
            ifi_change: 0
        )
    }
}
