import ArgumentParser

/// A firewall mark as `ip rule` writes it: decimal, or hexadecimal after 0x.
package struct FirewallMark: ExpressibleByArgument {
    package let value: UInt32

    package init?(argument: String) {
        let isHexadecimal = argument.hasPrefix("0x") || argument.hasPrefix("0X")
        let digits = isHexadecimal ? String(argument.dropFirst(2)) : argument
        guard let value = UInt32(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        self.value = value
    }
}
