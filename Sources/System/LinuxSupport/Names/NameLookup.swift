package import CLinux
import Glibc

/// The system resolver, asked in a blocking way: call it on a thread of its own.
///
/// C counterpart: `getaddrinfo(3)`, `gai.conf(5)` for the order.
package enum NameLookup {
    /// Why a name has no address.
    package enum Failure: Error, Hashable, Sendable {
        /// The name service says that there is no such name (EAI_NONAME).
        case noSuchName
        /// The name service says that the name has no address (EAI_NODATA); of some answers that mean something else, too.
        case noAddress
        /// The name service could not be asked, or gave up; asking again may help. The text is the system's own.
        case unavailable(String)

        /// Whether the name service knows that there is no address.
        package var isDenial: Bool { self == .noSuchName || self == .noAddress }
    }

    /// One address of a name; `zone` is the interface index of a link-local IPv6 address.
    package struct Address: Hashable, Sendable {
        package let address: WireAddress
        package let zone: UInt32?

        package init(_ address: WireAddress, zone: UInt32? = nil) {
            self.address = address
            self.zone = zone
        }
    }

    /// Every address of `name`, in the order connections should try them (RFC 6724).
    ///
    /// - Parameter namespace: the network namespace to ask in, with the files it has of its own; the calling thread must end
    ///   afterwards.
    package static func addresses(
        of name: String,
        inside namespace: NamespaceReference? = nil
    ) throws(Failure) -> [Address] {
        if let namespace {
            do throws(NamespaceError) {
                try NamespaceEntry.enter(namespace)
            } catch {
                throw .unavailable(error.description)
            }
            do throws(SystemError) {
                try NamespaceFiles(of: namespace)?.show()
            } catch {
                throw .unavailable("cannot use the files in /etc/netns: \(error)")
            }
        }
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        switch code {
        case 0: break
        case EAI_NONAME: throw .noSuchName
        case -5 /* EAI_NODATA, a GNU extension */: throw .noAddress
        case EAI_SYSTEM: throw .unavailable(SystemError.current.description)
        default: throw .unavailable(String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [Address] = []
        var next = list
        while let entry = next {
            if let address = Address(entry.pointee.ai_addr), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}

extension NameLookup.Address {
    /// The address of an IPv4 or IPv6 socket address; nil for every other family.
    init?(_ socketAddress: UnsafePointer<sockaddr>?) {
        guard let socketAddress else { return nil }
        let raw = UnsafeRawPointer(socketAddress)
        switch Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            self.init(WireAddress(ipv4: UInt32(bigEndian: address.sin_addr.s_addr)))
        case AF_INET6:
            var address = raw.loadUnaligned(as: sockaddr_in6.self)
            guard let wire = withUnsafeBytes(of: &address.sin6_addr, { WireAddress(bytes: $0) }) else { return nil }
            self.init(wire, zone: address.sin6_scope_id == 0 ? nil : address.sin6_scope_id)
        default:
            return nil
        }
    }
}

extension NameLookup.Address {
    /// The address of a socket address of any family; nil when it is neither IPv4 nor IPv6.
    package init?(_ storage: sockaddr_storage) {
        var storage = storage
        let address = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Self(UnsafePointer($0)) }
        }
        guard let address else { return nil }
        self = address
    }
}
