/// What is special about an address of an interface.
///
/// C counterpart: `IFA_F_*` of `<linux/if_addr.h>`.
package struct AddressFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// IPv4: another address of the prefix came first. IPv6: it changes now and then, for privacy (IFA_F_SECONDARY, which
    /// is IFA_F_TEMPORARY).
    package static let secondary = AddressFlags(rawValue: 0x01)
    /// It may be used while duplicates are still looked for (IFA_F_OPTIMISTIC, RFC 4429).
    package static let optimistic = AddressFlags(rawValue: 0x04)
    /// Somebody else has it (IFA_F_DADFAILED, RFC 4862).
    package static let detectionFailed = AddressFlags(rawValue: 0x08)
    /// Past its preferred lifetime (IFA_F_DEPRECATED, RFC 4862).
    package static let deprecated = AddressFlags(rawValue: 0x20)
    /// Duplicates are still looked for (IFA_F_TENTATIVE, RFC 4862).
    package static let tentative = AddressFlags(rawValue: 0x40)
}
