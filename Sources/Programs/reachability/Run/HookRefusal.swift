/// Why a hook, or a directory of hooks, is not used.
enum HookRefusal: Error, Hashable, CustomStringConvertible {
    /// The system's words.
    case unreadable(String)
    case noDirectory
    case noRegularFile
    case notExecutable
    case foreignOwner(UInt32)
    case writableByOthers

    /// What is wrong, and what to do, after the name and a colon.
    var description: String {
        switch self {
        case .unreadable(let cause): cause
        case .noDirectory: "it is no directory"
        case .noRegularFile: "it is no regular file"
        case .notExecutable: "it is not executable: `chmod +x` lets it be run"
        case .foreignOwner(let user):
            "it belongs to user \(user): only what belongs to root, or to the user who runs this, is trusted"
        case .writableByOthers: "its group or others may write to it: `chmod go-w` takes that away"
        }
    }
}
