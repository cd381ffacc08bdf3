import CLinux
import Glibc
import LinuxPrimitives

/// Which driver serves a link.
///
/// C counterpart: ETHTOOL_GDRVINFO through SIOCETHTOOL, `<linux/ethtool.h>`; needs no privilege.
enum Driver {
    /// The name of the driver of the device called `link` in the calling thread's network namespace; nil where it has none.
    static func name(ofLink link: String) throws(SystemError) -> String? {
        let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .current }
        let socket = Descriptor(owning: number)
        var information = ethtool_drvinfo()
        guard clinux_ethtool_drvinfo(socket.number, link, &information) == 0 else { return nil }
        let name = withUnsafeBytes(of: &information.driver) { $0.text }
        return name.isEmpty ? nil : name
    }
}
