// One fixture for every line of docs/css.md: the HTML, and what its PDF must show.

export type Fixture = {
  html: string
  /** The lines of its text, in order. A run of blanks counts as one. */
  text: string[]
  /** Colours that must appear, as `#rrggbb`. */
  colours?: string[]
  pages?: number
  /** Why it is not compared with a browser's print. */
  alone?: string
}

export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC'

const rows = (count: number): string =>
  Array.from({ length: count }, (_, at) => `<tr><td>Item ${at + 1}</td><td>${at + 1}.00</td></tr>`).join('')

export const FIXTURES: Record<string, Fixture> = {
  pageRules: {
    html: `<style>@page { size: A5 landscape; @top-right { content: "Policy \\"P-1\\" <b>"; color: #00ff00 } margin: 1cm; @bottom-center { content: "Page " counter(page) ' of ' counter(pages) } @page :first { size: A3 } } td { border: 9pt solid red }</style><p>one</p><p style="page-break-before: always">two</p>`,
    text: ['Policy "P-1" <b>', 'one', 'Page 1 of 2', 'Policy "P-1" <b>', 'two', 'Page 2 of 2'],
    colours: ['#00ff00'],
    pages: 2,
    alone: 'The page that a browser prints is told to it.',
  },
  sections: {
    html: '<style>@page Wide { size: A4 landscape; margin: 1cm } .wide { page: Wide }</style><p>one</p><div class="wide">two</div><p>three</p>',
    text: ['one', 'two', 'three'],
    pages: 3,
    alone: 'The page that a browser prints is told to it.',
  },
  headings: {
    html: '<h1>One</h1><h2>Two</h2><h3>Three</h3><h4>Four</h4><h5>Five</h5><h6>Six</h6><p>Text</p>',
    text: ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Text'],
  },
  paragraphs: {
    html: '<p>First<p>second,<br>a new line</p><div>a block<address>address</address>and after</div>Loose text<blockquote>quoted</blockquote>',
    text: ['First', 'second,', 'a new line', 'a block', 'address', 'and after', 'Loose text', 'quoted'],
  },
  emphasis: {
    html: '<p>plain <b>bold</b> <em>italic</em> <span style="font-weight:700;font-style:italic">both</span><strong>, joined</strong></p>',
    text: ['plain bold italic both, joined'],
  },
  decoration: {
    html: '<p><u>under</u> <s>struck</s> <span style="text-decoration: underline">styled</span></p>',
    text: ['under struck styled'],
  },
  sizes: {
    html: '<p style="font-size:24pt">large <small>smaller</small> <span style="font-size:50%">half</span></p><p style="font-size:10px">ten pixels</p>',
    text: ['large smaller half', 'ten pixels'],
  },
  colours: {
    html: '<p style="color:#c00">red</p><p style="background-color:#00ff00">green <span style="color:rgb(0, 0, 255)">blue</span></p>',
    text: ['red', 'green blue'],
    colours: ['#cc0000', '#00ff00', '#0000ff'],
  },
  alignment: {
    html: `<p style="text-align:right">right</p><p align="center">centre</p><p>left</p><p style="text-align:justify">${'justified '.repeat(20)}</p>`,
    text: ['right', 'centre', 'left'],
  },
  spacing: {
    html: '<p style="line-height:2">one<br>two</p><p style="text-transform:uppercase;letter-spacing:1pt">upper</p>',
    text: ['one', 'two', 'UPPER'],
  },
  blanks: {
    html: '<p>  many   blanks\n  are one </p><pre>kept\n  as written</pre><p style="white-space:pre-line">new\nline</p>',
    text: ['many blanks are one', 'kept', 'as written', 'new', 'line'],
  },
  scripts: { html: '<p>H<sub>2</sub>O, 10 m<sup>2</sup></p>', text: ['H2O, 10 m2'] },
  links: {
    html: '<p><a href="https://example.com/a">example</a> <a href="javascript:alert(1)">not a link</a></p>',
    text: ['example not a link'],
  },
  boxes: {
    html: '<div style="margin:10pt 30pt;padding:12pt;background:#eeeeff">in the box</div><p style="margin-left:2cm">moved</p>',
    text: ['in the box', 'moved'],
    colours: ['#eeeeff'],
  },
  borders: {
    html: '<div style="border:4pt solid #ff0000;padding:4pt">red</div><p style="border-bottom:3pt solid #0000ff">blue</p><table style="border:2pt solid #008000"><tr><td style="border-right:1pt solid #ff0000">left</td><td>right</td></tr></table>',
    text: ['red', 'blue', 'left right'],
    colours: ['#ff0000', '#0000ff', '#008000'],
  },
  dashes: {
    html: '<p style="border-bottom:3pt dashed #0000ff">dashed</p><p style="border:2pt dotted #ff0000">dotted</p><p style="border:9pt double #00ff00">double</p>',
    text: ['dashed', 'dotted', 'double'],
    colours: ['#0000ff', '#ff0000', '#00ff00'],
    alone: 'gaps between dashes are not stretched to fit',
  },
  widths: {
    html: '<div style="width:30%;background:#ffeeee">narrow enough for some words only, so that it breaks</div><table style="width:50%;margin-left:auto"><tr><td style="width:70%;background:#eeffee">wide</td><td style="background:#eeeeff">rest</td></tr></table><table align="center"><tr><td style="background:#ffee00">centred</td></tr></table><div style="width:30pt;background:#ddddff">x</div><div style="width:50%;background:#ffddff">twelfths</div><div style="width:150pt;padding:10pt;background:#ddffff">content</div><div style="width:150pt;padding:10pt;background:#ddffff;box-sizing:border-box">border</div>',
    text: [
      'narrow enough for some',
      'words only, so that it',
      'breaks',
      'wide rest',
      'centred',
      'x',
      'twelfths',
    ],
    colours: ['#ffeeee', '#eeffee', '#eeeeff', '#ddddff', '#ffddff', '#ddffff'],
  },
  controls: {
    html: '<p><input type="checkbox" checked> glass <input type="checkbox"> hail <input type="radio" checked> yes <input type="radio"> no</p><p>Time: <input value="14:30"> <select><option>one</option><option selected>two</option></select></p><p><textarea>line one\nline two</textarea></p>',
    text: ['☑ glass ☐ hail ◉ yes ○ no', 'Time: 14:30 two', 'line one', 'line two'],
    alone: 'A browser draws its own boxes.',
  },
  floats: {
    html: '<div style="border-bottom:0.75pt solid gray"><div style="float:left"><b>Acme</b><br>1 Main Street</div><div style="float:right;text-align:right">Policy 100<br>1 May 2035</div><div style="clear:both"></div></div><p><span style="float:right">Page 1</span>Declarations</p><div style="float:left;width:50%;background:#ffeeee">left</div><div style="float:left;width:50%;background:#eeffee">right</div><div style="float:left;width:50%">below</div><div style="clear:both"></div><div style="float:right;width:120pt;background:#eeeeff">a box with words</div><div style="margin-right:140pt">beside the box</div><p style="clear:both">end</p>',
    text: [
      'Acme Policy 100',
      '1 Main Street 1 May 2035',
      'Declarations Page 1',
      'left right',
      'below',
      'beside the box a box with words',
      'end',
    ],
    colours: ['#ffeeee', '#eeffee', '#eeeeff'],
  },
  positions: {
    html: '<div style="position:relative;height:120pt;background:#eeeeff">inside<div style="position:absolute;right:12pt;bottom:12pt;width:90pt;background:#ffeeee">bottom right</div><div style="position:absolute;top:50%;left:0">half way</div></div><div style="position:absolute;top:300pt;left:30pt;border:0.75pt solid red;padding:6pt">window</div><p>after</p><div style="position:absolute;right:0">next to it</div><p>last</p>',
    text: ['inside', 'half way', 'bottom right', 'after', 'last next to it', 'window'],
    colours: ['#eeeeff', '#ffeeee', '#ff0000'],
  },
  watermarks: {
    html: '<div style="position:fixed;top:40%;left:50%;transform:translate(-50%,-50%) rotate(-45deg);font-size:60pt;color:#ff0000;opacity:.25;z-index:-1">COPY</div><p>one</p><p style="page-break-before:always">two</p>',
    text: ['one', 'two'],
    colours: ['#ffbfbf'],
    pages: 2,
  },
  inlineBlocks: {
    html: '<p>Signature: <span style="display:inline-block;width:150pt;border-bottom:0.75pt solid black">&nbsp;</span> Date: <span style="display:inline-block;width:80pt;border-bottom:0.75pt solid black">&nbsp;</span></p><div><div style="display:inline-block;width:30%;background:#ffeeee">one</div><div style="display:inline-block;width:30%;background:#eeffee">two</div></div><p style="text-align:center"><span style="display:inline-block;padding:2pt 8pt;background:#eeeeff">PAID</span></p><div><div style="display:table-cell;width:120pt">label</div><div style="display:table-cell">value</div></div>',
    text: ['Signature: Date:', 'one two', 'PAID', 'label value'],
    colours: ['#ffeeee', '#eeffee', '#eeeeff'],
  },
  flexRows: {
    html: '<div style="display:flex;justify-content:space-between"><div>Premium</div><div>100.00</div></div><div style="display:flex;gap:10pt"><div style="flex:1;background:#ffeeee">first</div><div style="flex:1;background:#eeffee">second</div><div style="width:80pt;background:#eeeeff">third</div></div><div style="display:flex;flex-wrap:wrap"><div style="width:60%">wide</div><div style="width:60%">below it</div></div>',
    text: ['Premium 100.00', 'first second third', 'wide', 'below it'],
    colours: ['#ffeeee', '#eeffee', '#eeeeff'],
  },
  growth: {
    html: '<div style="display:flex;gap:10pt"><div style="flex:1;background:#ffeeee">first</div><div style="flex:2;background:#eeffee">second</div><div style="width:80pt;background:#eeeeff">third</div></div><div style="display:flex"><div style="flex-grow:1;background:#ffeeee">longer text</div><div style="flex-grow:1;background:#eeffee">x</div></div><div style="display:flex"><div style="flex:1 1 100pt;background:#ffeeee">a</div><div style="flex:1 1 200pt;background:#eeffee">b</div></div><div style="display:flex"><div style="background:#ffeeee">label</div><div style="flex:1;background:#eeffee;text-align:center">c</div><div style="flex:3;background:#eeeeff">d</div></div>',
    text: ['first second third', 'longer text x', 'a b', 'label c d'],
    colours: ['#ffeeee', '#eeffee', '#eeeeff'],
  },
  grids: {
    html: '<div style="display:grid;grid-template-columns:1fr 2fr 80pt;gap:10pt"><div style="background:#ffeeee;padding:6pt">one<br>two</div><div style="background:#eeffee;border:0.75pt solid gray">second</div><div style="background:#eeeeff">third</div><div style="grid-column:span 2;border:1pt solid red">wide</div><div>five</div></div><div style="display:grid;grid-template-columns:auto 1fr;gap:4pt 12pt"><div>Policyholder</div><div>Acme</div><div>Number</div><div>100</div></div><div style="display:grid;grid-template-columns:25% 60pt max-content;gap:5pt"><div style="background:#ffeeee">Premium</div><div style="background:#eeffee">100.00</div><div style="background:#eeeeff">per year</div></div><div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(120pt,1fr));gap:8pt"><div style="background:#ffeeee">a</div><div style="background:#eeffee">b</div><div style="background:#ffeeee">c</div><div style="background:#eeffee">d</div></div>',
    text: [
      'second third',
      'one',
      'two',
      'wide five',
      'Policyholder Acme',
      'Number 100',
      'Premium 100.00 per year',
      'a b c',
      'd',
    ],
    colours: ['#ffeeee', '#eeffee', '#eeeeff', '#ff0000'],
  },
  percentages: {
    html: '<div style="width:300pt"><div style="margin-left:10%;padding:5%;background:#eeeeff">box</div><div style="margin:0 auto 10%;width:50%;padding:0 10%;background:#ffeeee">half</div></div>',
    text: ['box', 'half'],
    colours: ['#eeeeff', '#ffeeee'],
  },
  lists: {
    html: '<ul><li>one<li>two<ol type="a"><li>inner<li>second</ol></ul><ol start="4"><li>four</li><li value="9">nine<li>ten</ol>',
    text: ['one', 'two', 'a. inner', 'b. second', '4. four', '9. nine', '10. ten'],
  },
  tables: {
    html: '<table border="1" cellpadding="4"><caption>Caption</caption><thead><tr><th>A</th><th>B</th><th>C</th></tr></thead><tr><td rowspan="2">tall</td><td colspan="2">wide</td></tr><tr><td>x</td><td>y</td></tr><tfoot><tr><td>foot</td><td></td><td>end</td></tr></tfoot></table>',
    text: ['Caption', 'A B C', 'tall wide', 'x y', 'foot end'],
  },
  longTable: {
    html: `<table style="width:100%"><thead><tr><th>Head</th><th>Amount</th></tr></thead>${rows(120)}</table>`,
    text: ['Head Amount', ...Array.from({ length: 120 }, (_, at) => `Item ${at + 1} ${at + 1}.00`)],
    pages: 3,
  },
  images: {
    html: `<img src="${PIXEL}" width="100" height="50" alt="logo"><p>text</p><img src="${PIXEL}" style="width:50%;height:20pt">`,
    text: ['text'],
    colours: ['#ff0000'],
  },
  drawings: {
    html: `<svg width="200" height="100" viewBox="0 0 100 50"><rect x="5" y="5" width="40" height="40" fill="#ff0000" stroke="#000000" stroke-width="2"/><circle cx="70" cy="25" r="20" fill="#0000ff"/><path d="M 60 25 L 80 25 L 70 10 Z" fill="#ffffff"/></svg><div><svg width="200" height="30"><style>.box { fill: #008080 } text { fill: #ffffff; font-size: 16px }</style><rect class="box" width="200" height="30"/><text x="10" y="20" font-family="Noto Sans">Letters of a logo</text><text x="150" y="20" font-family="Noto Sans" font-weight="bold">bold</text></svg></div><p>text</p><img width="100" src="data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><g transform="translate(20 0)"><rect width="20" height="20" fill="#008000"/></g></svg>')}">`,
    text: ['Letters of a logo bold', 'text'],
    colours: ['#ff0000', '#0000ff', '#008000', '#008080'],
  },
  alternatives: {
    html: '<p>text<img src="https://example.com/x.png" alt=" (elsewhere)"></p>',
    text: ['text (elsewhere)'],
    alone: 'browsers frame what they could not load',
  },
  rules: { html: '<p>over</p><hr><hr width="50%"><p>under</p>', text: ['over', 'under'] },
  indents: {
    html: '<p style="text-indent:2em">indented<br>second</p><p style="margin-left:36pt;text-indent:-18pt">1. hanging<br>below</p>',
    text: ['indented', 'second', '1. hanging', 'below'],
  },
  heights: {
    html: '<div style="height:60pt">window</div><div style="min-height:40pt;background:#00ff00">box</div><table><tr><td style="height:30pt">cell</td></tr></table><p>after</p>',
    text: ['window', 'box', 'cell', 'after'],
    colours: ['#00ff00'],
  },
  keptTogether: {
    html: `<div style="height:500pt"></div><table><tbody style="break-inside:avoid">${rows(20)}</tbody></table>`,
    text: Array.from({ length: 20 }, (_, at) => `Item ${at + 1} ${at + 1}.00`),
    pages: 2,
  },
  pageBreaks: {
    html: '<p>first</p><p style="page-break-before:always">second</p><p style="break-after:page">still</p><div>third</div><table><tr><td>row one</td></tr><tr style="break-before:page"><td>row two</td></tr></table>',
    text: ['first', 'second', 'still', 'third', 'row one', 'row two'],
    pages: 4,
  },
  headerAndFooter: {
    html: '<bindery-header><p>above</p></bindery-header><p>text</p><p style="page-break-before:always">more</p><bindery-footer><p>below</p></bindery-footer>',
    text: ['above', 'text', 'below', 'above', 'more', 'below'],
    pages: 2,
    alone: 'headers of a print are pages of their own to a browser: browser.domain.test.ts',
  },
  pageNumbersByClass: {
    html: '<p>page <span class="page"></span></p><p style="page-break-before:always">more</p><bindery-footer><table><tr><td><p>page <span class="big page"></span> of <b class="topage"></b>, <span class="page">of the policy</span></p></td></tr></table></bindery-footer>',
    text: ['page', 'page 1 of 2, of the policy', 'more', 'page 2 of 2, of the policy'],
    pages: 2,
    alone: 'browsers leave empty elements empty',
  },
  pageNumbers: {
    html: '<p>page <bindery-page-number></bindery-page-number> of <bindery-page-count></bindery-page-count></p><p style="page-break-before:always">page <bindery-page-number></bindery-page-number></p><bindery-footer>foot <bindery-page-number></bindery-page-number>/<bindery-page-count></bindery-page-count></bindery-footer>',
    text: ['page 1 of 2', 'foot 1/2', 'page 2', 'foot 2/2'],
    pages: 2,
    alone: 'CSS knows no number of pages: browser.domain.test.ts',
  },
  styleSheets: {
    html: '<style>p { color: #111111 } .a > b, #x { color: #ff0000 } @media screen { p { display: none } } tr:nth-child(even) td { background: #00ff00 } p.b { color: #0000ff !important }</style><p class="a"><b>red</b></p><p class="b" style="color:#222222">blue</p><table><tr><td>odd</td></tr><tr><td>even</td></tr></table>',
    text: ['red', 'blue', 'odd', 'even'],
    colours: ['#ff0000', '#0000ff', '#00ff00'],
  },
  selectors: {
    html: '<style>li:nth-child(3n+1) { color: #ff0000 } li:not(:last-child) { font-weight: bold } h3 + p, a[href$=".pdf"] { color: #0000ff } p ~ p:last-of-type { background: #00ff00 }</style><h3>Forms</h3><p>first</p><p>second</p><ul style="list-style:none"><li>one</li><li>two</li></ul>',
    text: ['Forms', 'first', 'second', 'one', 'two'],
    colours: ['#ff0000', '#0000ff', '#00ff00'],
  },
  variables: {
    html: '<style>:root { --brand: #ff0000; --edge: 2pt solid var(--brand) } .box { border: var(--edge); padding: var(--none, 6pt) }</style><div class="box">in the box</div>',
    text: ['in the box'],
    colours: ['#ff0000'],
  },
  calculations: {
    html: '<div style="width: calc(50% - 10pt); background: #00ff00; padding: calc(2pt * 3)">half</div>',
    text: ['half'],
    colours: ['#00ff00'],
  },
  generatedContent: {
    html: '<style>body { counter-reset: part } h3 { counter-increment: part } h3::before { content: "Part " counter(part, upper-roman) ". " } .no:before { content: "NOT COVERED"; color: #ff0000; margin-right: 5pt }</style><h3>Property</h3><p class="no">Wear and tear</p><h3>Liability</h3>',
    text: ['Part I. Property', 'NOT COVERED Wear and tear', 'Part II. Liability'],
    colours: ['#ff0000'],
  },
  bullets: {
    html: '<ul><li>one<ul><li>two<ul><li>three<ul><li>four</ul></ul></ul></ul><ol><li>five<ul><li>six</ul></ol>',
    text: ['one', 'two', 'three', 'four', '1. five', 'six'],
  },
  captionsBelow: {
    html: '<style>caption { caption-side: bottom }</style><table style="width:50%"><caption>Caption</caption><tr><td style="background:#eeeeff">cell</td></tr></table><p>after</p>',
    text: ['cell', 'Caption', 'after'],
    colours: ['#eeeeff'],
  },
  listBoxes: {
    html: '<ul style="background: #00ff00; padding: 8pt 8pt 8pt 40pt; list-style: none"><li style="padding: 4pt; border-bottom: 2pt solid #ff0000">one</li><li style="background: #0000ff">two</li></ul>',
    text: ['one', 'two'],
    colours: ['#00ff00', '#ff0000', '#0000ff'],
  },
  hidden: {
    html: '<p>seen<span style="display:none">unseen</span></p><script>const unseen = 1</script><template>unseen</template>',
    text: ['seen'],
  },
  rightToLeft: {
    html: '<div dir="rtl"><p>שלום עולם, זו פוליסה מספר 12345 (Policy).</p><p>مرحبا بالعالم، هذه وثيقة تأمين رقم ١٢٣ بتاريخ 2027-01-01.</p><table style="width:100%"><tr><td style="background:#00ff00">ראשון</td><td style="width:60%">שני</td></tr></table></div><p>A policy of שלום עולם, insured.</p><p dir="auto">שורה</p><p dir="rtl" style="text-align:left">לשמאל</p>',
    text: [],
    colours: ['#00ff00'],
  },
  ownFonts: {
    html: '<style>@font-face { font-family: "Mono"; src: url("DejaVuSansMono.ttf") } @font-face { font-family: Mono; font-weight: bold; src: url(DejaVuSansMono-Bold.ttf) } .mono { font-family: Mono, sans-serif }</style><p class="mono">illi wwww <b>bold 0123</b></p><p>illi wwww</p>',
    text: ['illi wwww bold 0123', 'illi wwww'],
  },
  alphabets: {
    html: '<p>Žluťoučký kůň Ελληνικά Привет Tiếng Việt</p><p>ქართული Հայերեն ✓ €</p><p>עברית</p><p>हिन्दी</p>',
    text: ['Žluťoučký kůň Ελληνικά Привет Tiếng Việt', 'ქართული Հայերեն ✓ €', 'עברית'],
  },
}
