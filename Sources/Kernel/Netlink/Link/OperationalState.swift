/// The RFC 2863 state of a link. It lags behind the carrier: only `dormant` is read from it.
///
/// C counterpart: `IF_OPER_*` in `<linux/if.h>`.
package struct OperationalState: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let unknown = OperationalState(rawValue: 0)
    package static let notPresent = OperationalState(rawValue: 1)
    package static let down = OperationalState(rawValue: 2)
    package static let lowerLayerDown = OperationalState(rawValue: 3)
    package static let testing = OperationalState(rawValue: 4)
    package static let dormant = OperationalState(rawValue: 5)
    package static let up = OperationalState(rawValue: 6)
}
