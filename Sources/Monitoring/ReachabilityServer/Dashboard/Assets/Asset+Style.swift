extension Asset {
    /// The looks. No fonts from elsewhere; light and dark as the reader's system is.
    static let styleText = colourText + pageStyleText + pictureText

    private static let colourText = """
        :root{--bg:#f7f7f5;--card:#fff;--ink:#17191b;--soft:#5c6368;--line:#e4e5e3;--open:#efefec;
        --up:#2f9e77;--degraded:#7d9a1f;--us:#e09400;--upstream:#7a5cc7;--them:#cf3d3d;--unknown:#a4abb0;--maintenance:#3f86c4;
        --up-ink:#14694b;--degraded-ink:#4f6210;--us-ink:#7c4a00;--upstream-ink:#5638a3;--them-ink:#a82222;--unknown-ink:#50575c;
        --maintenance-ink:#1f5a8f;--sign:#fff;--shadow:0 1px 2px #0000000a,0 4px 16px #00000008;
        --mono:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
        @media (prefers-color-scheme:dark){:root{--bg:#0f1113;--card:#17191c;--ink:#ebedee;--soft:#9aa3a9;--line:#282c30;
        --open:#1d2023;--up:#3fbf91;--degraded:#a9c53f;--us:#f0a92e;--upstream:#9f86e8;--them:#ee6a6a;--unknown:#59626a;--maintenance:#5fa5e0;
        --up-ink:#62d3ab;--degraded-ink:#c3db6a;--us-ink:#f5bd5c;--upstream-ink:#b9a5f0;--them-ink:#f59494;--unknown-ink:#b3bbc1;
        --maintenance-ink:#8cc0ec;--sign:#0f1113;--shadow:none}}
        .t-up{--c:var(--up);--i:var(--up-ink)}.t-degraded{--c:var(--degraded);--i:var(--degraded-ink)}.t-us{--c:var(--us);--i:var(--us-ink)}
        .t-upstream{--c:var(--upstream);--i:var(--upstream-ink)}.t-them{--c:var(--them);--i:var(--them-ink)}
        .t-unknown{--c:var(--unknown);--i:var(--unknown-ink)}
        .t-maintenance{--c:var(--maintenance);--i:var(--maintenance-ink)}

        """

    private static let pageStyleText = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,
        "Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
        a{color:inherit;text-decoration-color:color-mix(in srgb,currentColor 35%,transparent);text-underline-offset:.2em}
        a:hover{text-decoration-color:currentColor}
        :focus-visible{outline:2px solid var(--ink);outline-offset:3px;border-radius:3px}
        main:focus{outline:none}
        .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.6rem;background:var(--card);padding:.3rem .7rem;z-index:2}
        .unseen{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)}
        header{display:flex;flex-wrap:wrap;gap:.4rem 1.8rem;align-items:baseline;padding:1rem clamp(1rem,4vw,2.5rem);
        font-size:.92rem;color:var(--soft)}
        .host{color:var(--ink);font-weight:650;text-decoration:none;overflow-wrap:anywhere}
        nav{display:flex;flex-wrap:wrap;gap:.2rem 1.3rem}
        nav a{text-decoration:none;padding:.2rem 0;border-bottom:2px solid transparent}
        nav a:hover{color:var(--ink)}
        nav a[aria-current]{color:var(--ink);border-color:var(--ink)}
        #live{margin-left:auto;white-space:nowrap}
        #live.on::before{content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:50%;background:var(--up);
        margin-right:.5rem;animation:breathe 3s ease-in-out infinite}
        @keyframes breathe{50%{opacity:.35}}
        @media (prefers-reduced-motion:reduce){#live.on::before{animation:none}}
        #banner{background:var(--them-ink);color:var(--bg);padding:.7rem clamp(1rem,4vw,2.5rem);font-weight:600}
        #banner[hidden]{display:none}
        .notice{margin:0 0 1rem;padding:.7rem 1rem;border-radius:.8rem;font-weight:600;overflow-wrap:anywhere;
        color:var(--them-ink);background:color-mix(in srgb,var(--them) 12%,var(--card))}.notice:empty{display:none}
        .stale main{filter:grayscale(1);opacity:.55}
        main{max-width:76rem;margin:0 auto;padding:.6rem clamp(1rem,4vw,2.5rem) 4rem}
        .hero{display:flex;gap:clamp(1rem,2.5vw,1.8rem);align-items:flex-start;padding:clamp(1.3rem,3.5vw,2.4rem);
        border-radius:1rem;background:color-mix(in srgb,var(--c) 11%,var(--card));
        border:1px solid color-mix(in srgb,var(--c) 28%,var(--line))}
        h1{font-size:clamp(1.55rem,3.6vw,2.6rem);line-height:1.16;letter-spacing:-.022em;font-weight:680;margin:0;
        text-wrap:balance;overflow-wrap:anywhere}
        .when{display:block;font-size:.6em;letter-spacing:-.01em;font-weight:400;margin-top:.45rem;color:var(--soft)}
        .hero .when{color:var(--i)}
        .lead{margin:.55rem 0 0;font-size:clamp(.98rem,1.4vw,1.12rem);color:var(--soft);max-width:52rem}
        .remedy{color:var(--ink)}
        h2{font-size:1.02rem;font-weight:650;letter-spacing:-.005em;margin:2.6rem 0 .8rem;display:flex;flex-wrap:wrap;
        gap:.3rem 1rem;align-items:baseline}
        h2 small,h2 .tabs{font-weight:400;font-size:.88rem;color:var(--soft)}
        .tabs{margin-left:auto;display:flex;flex-wrap:wrap;gap:.2rem}
        button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:99px;
        padding:.25rem .9rem;cursor:pointer;margin-right:.6rem}button[hidden]{display:none}
        .tabs a{padding:.1rem .6rem;border-radius:99px;text-decoration:none}
        .tabs a[aria-current]{background:var(--ink);color:var(--bg)}
        .choose{margin:0 0 .8rem;font-size:.92rem;color:var(--soft)}.choose a{overflow-wrap:anywhere}
        .choose .tabs{margin:.4rem 0}.card{background:var(--card);border:1px solid var(--line);border-radius:.8rem;box-shadow:var(--shadow)}
        .row{display:grid;grid-template-columns:minmax(8rem,13rem) 1fr minmax(10rem,14rem);gap:.6rem 1.6rem;align-items:center;
        padding:1.1rem 1.3rem;border-top:1px solid var(--line)}
        .row:first-child{border-top:0}.calendar{grid-template-columns:minmax(8rem,13rem) 1fr}
        .name{font-weight:650;overflow-wrap:anywhere}
        small,.soft{color:var(--soft);font-size:.86rem}
        .name small,.state small{display:block;font-weight:400}
        .state,.lead{overflow-wrap:anywhere}.state p{margin:0 0 .35rem}
        .inside{padding:1.3rem}
        .pairs{display:grid;grid-template-columns:minmax(6rem,8rem) 1fr;gap:.2rem 1rem;margin:0;font-size:.94rem}
        .pairs dt{color:var(--soft)}.pairs dd{margin:0;overflow-wrap:anywhere}
        .n{white-space:nowrap}
        .pill{display:inline-flex;align-items:center;gap:.4rem;border-radius:99px;padding:.12rem .65rem .12rem .3rem;
        font-size:.82rem;font-weight:650;color:var(--i);background:color-mix(in srgb,var(--c) 16%,var(--card));white-space:nowrap}
        .share{font-size:1.3rem;font-weight:650;letter-spacing:-.02em;line-height:1.2}
        .list{list-style:none;margin:0;padding:0}
        .list li{border-top:1px solid var(--line)}.list li:first-child{border-top:0}
        .list li>a{display:grid;grid-template-columns:1.5rem minmax(0,1fr) auto;gap:.1rem .8rem;align-items:center;padding:.75rem 1.3rem;
        text-decoration:none}
        .list li>a:hover{background:color-mix(in srgb,var(--ink) 4%,transparent)}
        .list b,.list .soft{overflow-wrap:anywhere}.list b{font-weight:600}.list .soft{grid-column:2}
        .list .long{grid-row:1/3;grid-column:3;font-weight:600;white-space:nowrap}
        .empty{padding:1.2rem 1.3rem;margin:0;color:var(--soft)}
        .two{display:grid;grid-template-columns:1fr 1fr;gap:0 1.6rem}
        .facts{display:grid;grid-template-columns:minmax(6rem,9rem) 1fr;gap:.45rem 1.2rem;margin:0;padding:1.2rem 1.3rem}
        .facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
        code{font-family:var(--mono);font-size:.9em}
        table{width:100%;border-collapse:collapse}
        th,td{text-align:right;padding:.6rem .8rem;border-top:1px solid var(--line);white-space:nowrap}
        th{font-weight:600;font-size:.84rem;color:var(--soft)}
        thead th{border-top:0}
        th:first-child,td:first-child{text-align:left;padding-left:1.3rem}td:last-child,th:last-child{padding-right:1.3rem}
        .scroll{overflow-x:auto}
        .more{margin:.8rem 0 0;font-size:.92rem;color:var(--soft)}
        @media (max-width:820px){.row{grid-template-columns:1fr}.two{grid-template-columns:1fr}
        .state{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:baseline}
        .list li>a{padding:.75rem 1rem}.row,.facts,.empty{padding-left:1rem;padding-right:1rem}}
        @media (max-width:480px){.sign.big{width:2.2rem;height:2.2rem}.hero{padding:1.1rem 1rem;border-radius:.8rem}
        .facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.6rem}header{gap:.5rem 1rem;font-size:.88rem}nav{order:2;width:100%;gap:.2rem 1rem}}

        """

    private static let pictureText = """
        .sign{flex:none;width:1rem;height:1rem;overflow:visible}
        .sign.big{width:clamp(2.4rem,5vw,3.6rem);height:clamp(2.4rem,5vw,3.6rem)}
        .c-up{fill:var(--up)}.c-degraded{fill:var(--degraded)}.c-us{fill:var(--us)}.c-upstream{fill:var(--upstream)}.c-them{fill:var(--them)}
        .c-maintenance{fill:var(--maintenance)}.c-unknown{fill:none;stroke:var(--unknown-ink)}
        .ink{fill:none;stroke:var(--sign);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
        .median{fill:var(--ink)}
        .ring,.dash{fill:none;stroke:var(--unknown-ink);stroke-width:1.6;stroke-linecap:round}
        .ring{stroke-dasharray:2.4 2.1}
        .f-degraded{fill:var(--degraded)}.f-us{fill:var(--us)}.f-upstream{fill:var(--upstream)}.f-them{fill:var(--them)}
        .f-maintenance{fill:var(--maintenance)}.f-unknown{fill:color-mix(in srgb,var(--unknown) 45%,var(--open))}.f-open{fill:var(--open)}
        .shade{fill:#0000003d}.light{fill:#ffffff80}.cross{stroke:#00000045;stroke-width:1.2;fill:none}
        .bar{display:block;border-radius:5px;overflow:hidden;background:var(--open)}
        .s-up{fill:var(--up)}.cut{fill:var(--card)}
        .s-us,.s-upstream,.s-them{stroke-width:2px;vector-effect:non-scaling-stroke}
        .s-us{stroke:var(--us)}.s-upstream{stroke:var(--upstream)}.s-them{stroke:var(--them)}
        .days{display:block;width:100%;min-width:34rem;height:auto}
        .days rect{width:11px;height:11px;rx:2px}.days .all{width:100%;height:100%;rx:0}
        .axis{display:flex;justify-content:space-between;color:var(--soft);font-size:.78rem;margin-top:.3rem;gap:.8rem}
        .spans{display:grid;gap:.9rem}
        .legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin:.9rem 0 0;padding:0;list-style:none;font-size:.84rem;
        color:var(--soft)}
        .legend li{display:flex;align-items:center;gap:.45rem}
        .swatch{border-radius:3px;overflow:hidden}
        .steps{list-style:none;margin:0;padding:.6rem 0}
        .steps li{display:grid;grid-template-columns:1.4rem minmax(8.5rem,auto) minmax(0,1fr) auto;overflow-wrap:anywhere;gap:.1rem .9rem;padding:.55rem 1.3rem;
        align-items:baseline}
        .steps .sign{position:relative;top:.15rem}
        .steps b{font-weight:600}.steps .soft{grid-column:3/5}
        .steps time{font-family:var(--mono);font-size:.86rem;color:var(--soft)}
        @media (max-width:640px){.steps li{grid-template-columns:1.4rem minmax(0,1fr) auto}.steps time{grid-column:2/4}
        .steps b,.steps span{grid-column:2}.steps .long{grid-column:3;grid-row:2;white-space:nowrap}}
        .card h3{margin:0;padding:1rem 1.3rem 0;font-size:.95rem;font-weight:600}.card+.card{margin-top:1rem}
        .chain{list-style:none;margin:0;padding:.3rem 1.3rem .9rem}
        .chain li{display:grid;grid-template-columns:6.5rem 6.5rem 1fr;gap:.1rem .9rem;padding:.25rem 0;align-items:baseline}
        .chain b{font-weight:600}.chain .said{font-family:var(--mono);font-size:.86rem;overflow-wrap:anywhere}.chain .soft{display:block}
        @media (max-width:640px){.chain li{grid-template-columns:1fr 1fr}.chain .said{grid-column:1/3}}
        @media (forced-colors:active){.sign,.bar{forced-color-adjust:none}}

        """
}
