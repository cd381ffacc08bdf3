/// Whether packets get to the internet and back.
enum InternetStage {
    static func proven(_ view: FamilyView) -> Finding? {
        let anchors = view.results.filter { $0.isVerified || $0.isEchoed }
        switch view.standing {
        case .proven:
            return Finding(.works, .internetProven, .proven, "the internet answers", anchors)
        case .likely:
            let text = "what lies beyond the gateway answers; the internet itself was not asked"
            return Finding(.works, .upstreamAnswers, .likely, text, view.lifeBeyond)
        case .half:
            let text = "half of the anchors prove the internet, and half do not"
            return Finding(.inconclusive, .anchorsDisagree, .suspected, text, view.results.filter(\.isAnchor))
        case .failed, .unknown:
            return nil
        }
    }
}
