package import LinuxSupport

/// What a program binds its sockets to, and which paths count for it.
package struct PathConstraints: Hashable, Sendable {
    /// The firewall mark packets will carry (SO_MARK); 0 for none.
    package var mark: UInt32
    /// The interface packets will be bound to, by name or index (SO_BINDTODEVICE); nil for none.
    package var interface: String?
    /// The source address packets will be bound to (`bind(2)`); nil for the kernel's choice.
    package var source: IPAddress?
    /// The family that counts; nil for both.
    package var family: AddressFamily?
    /// The only type of interface that counts; nil for all.
    package var requiredType: InterfaceType?
    /// Types of interfaces that do not count.
    package var prohibitedTypes: Set<InterfaceType> = []

    package init(mark: UInt32 = 0, interface: String? = nil, family: AddressFamily? = nil) {
        (self.mark, self.interface, self.family) = (mark, interface, family)
    }

    /// Those of the family that counts.
    func counted(_ addresses: [IPAddress]) -> [IPAddress] {
        family == nil ? addresses : addresses.filter { $0.wire.family == family }
    }

    /// Whether some types of interfaces do not count.
    var limitsTypes: Bool { requiredType != nil || !prohibitedTypes.isEmpty }

    /// Whether packets may leave through an interface of this type.
    func permits(_ type: InterfaceType) -> Bool {
        (requiredType ?? type) == type && !prohibitedTypes.contains(type)
    }
}
