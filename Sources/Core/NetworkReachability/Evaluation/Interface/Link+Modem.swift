import Netlink

extension Link {
    /// Whether the name is one that the kernel, udev or a vendor gives to modems only (`systemd.net-naming-scheme(7)`).
    /// `ppp` names are not: DSL uses them too.
    var hasModemName: Bool {
        ["wwan", "wwx", "wwp", "wws", "rmnet", "ccmni", "qmimux"].contains { name.hasPrefix($0) }
    }
}

extension LinkHardware {
    /// Whether the driver serves modems only. `cdc_ncm`, `cdc_ether` and `rndis_host` do not: they also serve ethernet
    /// adapters and the tethers of phones.
    var hasModemDriver: Bool {
        guard let driver else { return false }
        switch driver {
        case "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "iosm", "mtk_t7xx", "GobiNet": return true
        default: return driver.hasPrefix("mhi_")
        }
    }
}
