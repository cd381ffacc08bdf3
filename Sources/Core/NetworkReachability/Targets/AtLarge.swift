/// The network at large, as a set of public addresses that stand for it.
///
/// `0.0.0.0` cannot be looked up on Linux: the kernel always answers that it is local. So the question "is there a
/// network?" is asked for several real addresses, and the majority of one family decides. No packet is sent to them.
enum AtLarge {
    /// Operators of name servers known all over the world, spread over the whole address space: with half of it routed
    /// (`0.0.0.0/1` alone), or one provider's network, there is no majority.
    static let addresses: [IPAddress] = [
        "1.1.1.1", "8.8.8.8", "9.9.9.9", "64.6.64.6", "192.5.5.241", "193.0.14.129", "199.7.83.42", "202.12.27.33",
        "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:fe::fe", "2a10:50c0::ad1:ff", "2400:3200::1",
    ].compactMap { IPAddress($0) }
}
