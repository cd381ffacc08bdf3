/// The exit status of the command by place, according to its documentation and not to its code.
enum Exit {
    static let codes: [String: CInt] = [
        "works": 0, "inconclusive": 2, "degraded": 3, "thisMachine": 10, "link": 11, "gateway": 12, "upstream": 13,
        "dns": 14,
        "portal": 15, "host": 16, "tls": 17, "service": 18,
    ]
}
