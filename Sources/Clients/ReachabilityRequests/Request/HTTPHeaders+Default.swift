import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

extension HTTPHeaders {
    /// The header fields of every request of a session that is made without others: Accept-Language and User-Agent.
    public static let `default`: HTTPHeaders = [.defaultAcceptLanguage, .defaultUserAgent]
}

extension HTTPHeader {
    /// Accept-Language with the languages of the environment, at most six, the preferred first: `de-DE;q=1.0, en;q=0.9`.
    public static let defaultAcceptLanguage = acceptLanguage(
        Self.acceptedLanguages { EnvironmentVariable.value(of: $0) }
    )

    /// User-Agent with the name of the program and the version of the kernel: `backup (Linux 6.1.0) ReachabilityRequests`.
    public static let defaultUserAgent: HTTPHeader = {
        let process = ProcessInfo.processInfo.processName.utf8.prefix(64)
        let name = String(decoding: process.map { $0.isOfToken ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
        let version = ProcessInfo.processInfo.operatingSystemVersion
        let system = "Linux \(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
        return userAgent("\(name.isEmpty ? "Unknown" : name) (\(system)) ReachabilityRequests")
    }()

    /// The languages of `LANGUAGE`, else those of the locale of messages; English if there is none (gettext(3), setlocale(3)).
    static func acceptedLanguages(_ variable: (String) -> String?) -> String {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first
        var languages: [String] = []
        for name in [variable("LANGUAGE"), locale].compactMap({ $0 }).flatMap({ $0.utf8.split(separator: 0x3a) }) {
            guard let language = language(of: name), !languages.contains(language) else { continue }
            languages.append(language)
        }
        if languages.isEmpty { languages = ["en"] }
        return languages.prefix(6).enumerated().map { place, language in
            "\(language);q=\(place == 0 ? "1.0" : "0.\(10 - place)")"
        }.joined(separator: ", ")
    }

    /// For example `de-DE` of `de_DE.UTF-8@euro`; nil for `C`, `POSIX` and what is no language (RFC 5646).
    private static func language(of locale: Substring.UTF8View) -> String? {
        let name = locale.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
        let text = String(decoding: name.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let isLanguage = text.utf8.prefix { $0 != UInt8(ascii: "-") }.allSatisfy { letters.contains($0 | 0x20) }
        let isTag = text.utf8.allSatisfy { letters.contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2d }
        let length = text.utf8.prefix { $0 != UInt8(ascii: "-") }.count
        return isLanguage && isTag && (2...3).contains(length) && text.utf8.count <= 35 ? text : nil
    }
}
