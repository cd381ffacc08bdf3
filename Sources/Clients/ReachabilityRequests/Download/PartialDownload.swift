import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NIOCore
import ReachabilityRetry

/// The file `NAME.part` beside the one that a download is to become, and `NAME.part.json` with what is known of it. Who has it has the
/// lock on it: of two downloads to one place, in one process or in two, the second is refused.
///
/// It is used by one task at a time.
final class PartialDownload: Sendable {
    struct State {
        /// How many bytes of the file are here.
        var size: Int64 = 0
        /// What is known of the file; nil where it cannot be gone on with.
        var known: ResumeData?
        /// How many bytes came, those included that came again.
        var received: Int64 = 0
        /// From where on the attempts under way ask.
        var offset: Int64?
        /// How far it is, as watchers are told.
        var progress = DownloadProgress(completed: 0, total: nil)

        mutating func count(restart reason: String) {
            progress.restarts += 1
            progress.restartReason = reason
        }
    }

    /// After how many bytes it is worth to ask for the rest at once.
    private static let goodPiece: Int64 = 64 << 10

    /// What is written is brought to the disk at each multiple of this, before anything behind it is written: so much a power cut takes.
    static let syncedPiece: Int64 = 64 << 20

    let destination: String
    private let url: String
    /// Which start of the machine this is.
    private let boot: String?
    private let file: PartialFile
    private let state = Locked(State())
    private let tell: @Sendable (DownloadProgress) -> Void

    private var path: String { Self.path(of: destination) }
    private var notePath: String { "\(path).json" }

    /// Opens what is there, if it is of this URL, else begins anew.
    init(
        _ destination: String,
        url: String,
        isResuming: Bool,
        boot: String? = ResumeData.currentBoot,
        tell: @escaping @Sendable (DownloadProgress) -> Void
    ) throws(RequestError) {
        self.destination = destination
        self.url = ResumeData.plain(url)
        self.boot = boot
        self.tell = tell
        do throws(SystemError) {
            file = try Self.open(Self.path(of: destination))
        } catch {
            throw error == .tryAgain ? .downloadBusy(path: destination) : .failed(error, at: Self.path(of: destination))
        }
        if isResuming, let text = TextFile.read(notePath, limit: 1 << 16),
            let known = try? JSONDecoder().decode(ResumeData.self, from: Data(text.utf8)), known.url == self.url
        {
            let found = try during { () throws(SystemError) in try file.size() }
            let size = known.boot == nil || known.boot == boot ? found : Self.synced(of: found)
            if size > 0, found <= known.total ?? .max { state.withLock { ($0.size, $0.known) = (size, known) } }
            // From now on it is this start that counts.
            if size < found, self.size > 0 { try note(known) }
        }
        guard size == 0 else { return }
        if isResuming, try during({ () throws(SystemError) in try file.size() }) > 0 {
            state.withLock { $0.count(restart: "what is here is not known to be a part of it") }
        }
        try startOver()
    }

    /// Opens the file and takes its lock. The download that had the lock until now may have removed or renamed the file in between.
    private static func open(_ path: String) throws(SystemError) -> PartialFile {
        for _ in 0..<10 {
            let file = try PartialFile(path, isNew: false)
            try file.lock()
            if file.isNamed(path) { return file }
        }
        throw .tryAgain
    }

    /// How much of a file of this size is on the disk for certain, after the machine has stopped in the middle of it.
    static func synced(of size: Int64) -> Int64 { max(0, size - 1) / syncedPiece * syncedPiece }

    private static func path(of destination: String) -> String { "\(destination).part" }

    /// How many bytes of the file are here.
    var size: Int64 { state.withLock { $0.size } }
    /// How many bytes came.
    var received: Int64 { state.withLock { $0.received } }
    /// Whether it can be gone on with.
    var isResumable: Bool { state.withLock { $0.known != nil && $0.size > 0 } }

    /// Throws away what is here.
    ///
    /// - Parameter reason: What watchers are told, where it is fetched anew.
    func startOver(because reason: String? = nil) throws(RequestError) {
        OwnFile.remove(notePath)
        state.withLock { state in
            if let reason, state.size > 0 { state.count(restart: reason) }
            (state.size, state.known) = (0, nil)
        }
        try during { () throws(SystemError) in try file.setSize(0) }
    }

    /// Why an answer with the whole file makes it start over; nil where it was asked for again for the sake of a small piece.
    private var restartReason: String? {
        state.withLock { state in
            if state.offset != nil { return "the server sends all of it: it has changed, or no parts of it are sent" }
            return state.known == nil ? "the server does not tell its versions apart" : nil
        }
    }

    /// An attempt begins, or the wait for the network.
    func wait(_ isWaiting: Bool) {
        guard state.withLock({ $0.progress.isWaitingForNetwork }) != isWaiting else { return }
        change { $0.progress.isWaitingForNetwork = isWaiting }
    }

    /// Tells watchers what has changed; in order, for it is told under the lock.
    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            tell(state.progress)
        }
    }

    /// The header fields that ask for the rest of the file, or for all of it (RFC 9110, sections 13.1.5 and 14.2).
    func askForRest(in request: OutgoingRequest) -> OutgoingRequest {
        var request = request
        // Of a file that is coded as it is sent no part is a part of the file.
        request.headers.add(.acceptEncoding("identity"))
        request.headers.remove(name: "Range")
        state.withLock { state in
            state.offset = nil
            guard let known = state.known, state.size > 0 else { return }
            state.offset = state.size
            request.headers.add(name: "Range", value: "bytes=\(state.size)-")
            request.headers.add(name: "If-Range", value: known.validator)
        }
        return request
    }

    /// What is to be done with an answer.
    func decision(on head: ResponseHead) -> ResumeDecision {
        let (offset, known) = state.withLock { ($0.offset, $0.known) }
        return ResumeDecision(head, askedFrom: offset, of: known)
    }

    /// Writes a body from a place on. Where it breaks off after a good piece, that ends the attempts: the next ask for what is missing
    /// then. A small piece may come again.
    func take(_ body: HTTPClientResponse.Body, _ head: ResponseHead, at start: Int64, total: Int64?) async throws {
        if head.statusCode != 206 {
            try startOver(because: restartReason)
            let known = head.contentEncoding == nil ? ResumeData(url: url, head) : nil
            try note(known)
        }
        try during { () throws(SystemError) in try file.setSize(start) }
        state.withLock { $0.size = start }
        var place = start
        change { state in
            state.progress.isWaitingForNetwork = false
            (state.progress.completed, state.progress.total) = (start, total)
        }
        do {
            for try await part in body {
                try Task.checkCancellation()
                place = try write(part, at: place, of: total)
            }
        } catch  where !(error is RequestError || error is DownloadFailure) {
            // Of an attempt that is cut because its address is gone, too: a cancellation of the whole is known above.
            throw place - start >= Self.goodPiece && isResumable ? DownloadFailure.brokenOff(error) : error
        }
        if let total, place < total { throw DownloadFailure.tooShort(place, of: total) }
    }

    /// Returns where the next piece goes.
    private func write(_ part: ByteBuffer, at place: Int64, of total: Int64?) throws -> Int64 {
        let end = place + Int64(part.readableBytes)
        if let total, end > total {
            try startOver()
            throw DownloadFailure.tooLong(total)
        }
        try during { () throws(SystemError) in
            var (place, rest) = (place, part)
            while rest.readableBytes > 0 {
                if place > 0, place % Self.syncedPiece == 0 { try file.sync() }
                let room = Int(Self.syncedPiece - place % Self.syncedPiece)
                guard let piece = rest.readSlice(length: min(rest.readableBytes, room)) else { break }
                try file.write(piece.readableBytesView, at: place)
                place += Int64(piece.readableBytes)
            }
        }
        change { state in
            state.size = end
            state.received += end - place
            state.progress.completed = end
        }
        return end
    }

    /// Asks the checks that were added after the answer came. What they refuse is thrown away.
    func check(_ answer: Answer, of request: OutgoingRequest, by validator: Validator) throws(RequestError) {
        guard let head = answer.response,
            let refusal = validator.refusal(request, head, nil, after: answer.checkCount)
        else { return }
        try startOver()
        throw refusal
    }

    /// Has the whole file looked at, before it gets its name. What is refused is thrown away.
    func check(by check: FileValidation) async throws(RequestError) {
        do {
            try await check(path)
        } catch {
            if Task.isCancelled { throw .explicitlyCancelled }
            try startOver()
            throw error as? RequestError ?? .responseValidationFailed(reason: .customValidationFailed(error: error))
        }
    }

    /// Gives the whole file its name, which it has after a power cut, too.
    func finish(replacing: Bool) throws(RequestError) {
        do throws(SystemError) {
            try file.setUsualMode()
            try file.sync()
            try FileName.move(path, to: destination, replacing: replacing)
            OwnFile.remove(notePath)
            try FileName.syncDirectory(of: destination)
        } catch {
            throw .downloadedFileMoveFailed(error: error, source: path, destination: destination)
        }
    }

    /// Ends the work on the file, and lets the next download to the same place begin. What cannot be resumed is removed.
    func leave() {
        if !isResumable, file.isNamed(path) {
            OwnFile.remove(notePath)
            OwnFile.remove(path)
        }
        // Not with the last reference to this object, which a task that ends later may have.
        file.unlock()
    }

    /// Written before the first byte of the file: there are no bytes of which nothing is known.
    private func note(_ known: ResumeData?) throws(RequestError) {
        guard var known else { return }
        known.boot = boot
        guard let text = try? JSONEncoder().encode(known) else { return }
        OwnFile.remove(notePath)
        try during { () throws(SystemError) in
            let note = try PartialFile(notePath, isNew: true)
            try note.write(text, at: 0)
            try note.sync()
            try FileName.syncDirectory(of: notePath)
        }
        state.withLock { $0.known = known }
    }

    private func during<Value>(_ work: () throws(SystemError) -> Value) throws(RequestError) -> Value {
        do throws(SystemError) { return try work() } catch { throw .failed(error, at: path) }
    }
}

extension RequestError {
    fileprivate static func failed(_ error: SystemError, at path: String) -> RequestError {
        .downloadedFileWriteFailed(error: error, path: path)
    }
}

/// What is known of a file of which a part is here: enough to ask for the rest of it, and for nothing else. It has no credentials.
public struct ResumeData: Codable, Hashable, Sendable {
    /// The URL as the caller gave it, without name, password and fragment.
    public let url: String
    /// The strong entity tag (RFC 9110, section 8.8.3), or the date of the last change where that is a strong validator.
    public let validator: String
    /// How many bytes the whole file has; nil where that was not said.
    public let total: Int64?
    /// Which start of the machine the file was written in (`boot_id` of random(4)); nil where that is not known. After another start only
    /// what had been brought to the disk is there for certain.
    public internal(set) var boot: String?

    /// What is known.
    public init(url: String, validator: String, total: Int64?) {
        self.url = url
        self.validator = validator
        self.total = total
    }

    /// Nil where it is not told.
    static let currentBoot = SystemClock.bootIdentifier

    /// From the head of an answer with the whole file; nil where the file can not be gone on with.
    ///
    /// A weak entity tag says that files mean the same, not that they are the same. A date is strong where the answer's own
    /// Date is a minute or more after it (RFC 9110, section 8.8.2.2).
    init?(url: String, _ head: ResponseHead) {
        guard let validator = Self.validator(of: head) else { return nil }
        self.init(url: Self.plain(url), validator: validator, total: head.total)
    }

    static func validator(of head: ResponseHead) -> String? {
        if let tag = head.headers["ETag"] {
            // Of several fields none is the tag of the file. They are joined to a list.
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count { $0 == UInt8(ascii: "\"") } == 2
                ? tag : nil
        }
        let now = SystemClock.real.components.seconds
        guard let changed = head.headers["Last-Modified"], let date = head.headers["Date"],
            let changedTime = HTTPDate.secondsSince1970(changed, now: now),
            let dateTime = HTTPDate.secondsSince1970(date, now: now),
            dateTime >= changedTime + 60
        else { return nil }
        return changed
    }

    /// Without name, password and fragment.
    package static func plain(_ url: String) -> String {
        let url = url.prefix { $0 != "#" }
        guard let start = url.firstRange(of: "://")?.upperBound else { return String(url) }
        let end = url[start...].unicodeScalars.firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        guard let at = url[start..<end].unicodeScalars.lastIndex(of: "@") else { return String(url) }
        return String(url[..<start] + url[url.unicodeScalars.index(after: at)...])
    }

    /// Whether a part belongs to the same version of the file: it has the same strong validator (RFC 9110, section 15.3.7.3). Without
    /// one, a server that ignores If-Range would send a part of another version.
    func isValidator(of part: ResponseHead) -> Bool {
        isValidator(part.headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"])
    }

    /// Compares bytes, because texts of different bytes may be equal.
    private func isValidator(_ field: String?) -> Bool { field?.utf8.elementsEqual(validator.utf8) ?? false }

    /// Whether an answer without content may be of the same version. It need not repeat the validator.
    func mayBeValidator(of head: ResponseHead) -> Bool {
        if let tag = head.headers["ETag"], validator.hasPrefix("\"") { return isValidator(tag) }
        if let changed = head.headers["Last-Modified"], !validator.hasPrefix("\"") { return isValidator(changed) }
        return true
    }
}

extension ResponseHead {
    /// How many bytes the whole file has, as far as this answer says it.
    var total: Int64? {
        if let range = headers["Content-Range"].flatMap(ContentRange.init) {
            switch range {
            case .part(_, _, let total): return total
            case .unsatisfied(let total): return total
            }
        }
        return expectedContentLength
    }
}
