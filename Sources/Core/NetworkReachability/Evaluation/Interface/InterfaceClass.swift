/// What an interface is, and what that means for a path through it.
package struct InterfaceClass: Hashable, Sendable {
    /// The word for people.
    package var type: InterfaceType
    /// Whether packets end up on a modem: the interface is one, or runs over one as far as its links tell.
    package var isWWAN: Bool
    /// Whether the interface may lead to other networks. False only for Wi-Fi that serves others or merely listens:
    /// access points, group owners, monitors.
    package var isUplink: Bool

    package init(type: InterfaceType, isWWAN: Bool, isUplink: Bool = true) {
        self.type = type
        self.isWWAN = isWWAN
        self.isUplink = isUplink
    }

    /// A class that follows from its type alone.
    package init(_ type: InterfaceType, isUplink: Bool = true) {
        self.init(type: type, isWWAN: type == .wwan, isUplink: isUplink)
    }
}
