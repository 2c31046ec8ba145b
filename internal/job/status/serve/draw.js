// How the page draws a state: a part of page.js, which has its variables.

// ---- drawing

function draw() {
  frames++;
  slots = shown === null ? state.processes : slotsAt(shown);
  if (!colours) {
    const style = getComputedStyle(document.documentElement);
    colours = Object.fromEntries(STATES.concat('mark', 'paper').map(s => [s, style.getPropertyValue('--' + s).trim()]));
    painted = new Map();
    trackKey = '';
  }
  drawCards(); drawGrid(); drawDetail(); drawTimeline(); drawHosts(); drawPages();
  if (changed.sample) { drawRates(); drawWaits(); }
  changed = {};
  document.body.dataset.frames = frames;
}

function drawCards() {
  const s = state.survives, t = state.totals, last = state.rates[state.rates.length - 1];
  const cards = [
    ['live', `${t.live} of ${state.processes.length}`],
    ['survives', state.over ? 'it is over' : s.lost.length ? 'a rank is lost' : `any ${plural(s.any, 'death')}, up to ${s.most}`],
    ['one replica left', plural(s.unprotected_count, 'rank')],
    ['view', state.view || 1], ['deaths', t.deaths], ['heals', t.heals + (t.heals_failed ? ` (${t.heals_failed} failed)` : '')],
  ];
  if (state.hosts.length > 1) cards.push(['any one host', s.any_host ? 'may be lost' : 'may not be lost']);
  if (state.counting) cards.push(['messages', last ? amount(last.messages, '/s') : '–'], ['bytes', last ? amount(last.bytes, 'B/s') : '–'],
    ['unexpected', amount(t.unexpected)], ['retained', amount(t.retained_bytes, 'B')], ['safe points', amount(t.safepoints) + (t.safepoints_expected ? ' of ' + amount(t.safepoints_expected) : '')], ['waiting', t.waiting]);
  if (t.left_s && !state.over) cards.push(['time left', 'about ' + time(t.left_s)]);
  cards.push(['time', time(state.at_s)]);
  const list = $('cards');
  if (list.children.length !== cards.length) list.replaceChildren(...cards.map(() => make('div', {}, make('dt'), make('dd'))));
  cards.forEach(([name, value], i) => {
    const [dt, dd] = list.children[i].children;
    if (dt.textContent !== name) dt.textContent = name;
    if (dd.textContent !== String(value)) dd.textContent = value;
  });
  const bar = $('progress');
  bar.hidden = !t.safepoints_expected;
  if (t.safepoints_expected) { bar.max = t.safepoints_expected; bar.value = Math.min(t.safepoints, t.safepoints_expected); }
  const text = state.old ? `the launcher isn't heard: so the job was at ${time(state.at_s)}. The page goes on with the next launcher, if there is one.` : s.lost.length ? `lost: ${s.lost.slice(0, 20).map(r => 'rank ' + r).join(', ')}`
    : state.over ? `${state.over.outcome}, exit code ${state.over.exit_code}${state.over.reason ? ': ' + state.over.reason : ''}` : '';
  if ($('danger').textContent !== text) $('danger').textContent = text;
  document.body.classList.toggle('old', !!state.old);
  $('danger').className = state.over && !state.over.exit_code && !s.lost.length ? 'fine' : '';
}

// wanted says which processes the filter leaves.
function wanted() {
  const words = $('filter').value.toLowerCase().split(',').map(w => w.trim()).filter(Boolean);
  if (!words.length) return null;
  return p => {
    const c = slots[p], s = state.processes[p];
    if (!c || !s) return false;
    return words.every(w => {
      const m = /^(rank|replica|host|rack|pid)\s+(.+)$/.exec(w);
      if (w === 'oversubscribed') return !!(state.hosts[c.host] || {}).oversubscribed;
      if (!m) return STATES.includes(w) ? c.state === w : hostName(c.host).toLowerCase().includes(w) || String(s.rank) === w;
      const value = { rank: s.rank, replica: s.replica, host: hostName(c.host), rack: (state.hosts[c.host] || {}).rack || '', pid: s.pid }[m[1]];
      const range = /^(\d+)-(\d+)$/.exec(m[2]);
      return range && m[1] !== 'host' && m[1] !== 'rack' ? +range[1] <= value && value <= +range[2] : String(value).toLowerCase() === m[2];
    });
  };
}

const groups = () => { // racks of hosts of processes
  const racks = new Map();
  state.hosts.forEach((h, i) => {
    const rack = h.rack || '';
    if (!racks.has(rack)) racks.set(rack, []);
    racks.get(rack).push({ host: i, all: [] });
  });
  const hosts = [...racks.values()].flat().reduce((by, g) => { by[g.host] = g; return by; }, []);
  slots.forEach((c, p) => { if (c && hosts[c.host]) hosts[c.host].all.push(p); });
  hosts.forEach(g => g.all.sort((a, b) => state.processes[a].rank - state.processes[b].rank || state.processes[a].replica - state.processes[b].replica));
  return racks;
};

function drawGrid() {
  const key = slots.map(c => c ? c.host : '-').join() + '|' + state.hosts.map(h => h.name + h.rack + h.state + h.oversubscribed).join();
  if (key !== layoutKey) { layoutKey = key; layOut(); }
  const is = wanted();
  if (slots.length >= CANVAS_FROM) return paint(is);
  slots.forEach((c, p) => {
    const b = cells[p];
    if (!b || !c) return;
    const name = 'cell ' + c.state + (is && !is(p) ? ' faint' : '');
    if (b.className !== name) {
      b.className = name;
      b.setAttribute('aria-label', `${nameOf(p)}, ${c.state}, host ${hostName(c.host)}`);
      b.dataset.state = c.state;
    }
    b.setAttribute('aria-pressed', p === selected);
  });
}

// layOut makes the boxes of racks and hosts, and a button for each process or a canvas for each host.
function layOut() {
  const many = slots.length >= CANVAS_FROM;
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.process : undefined;
  cells = [];
  const racks = make('div', { class: 'racks' });
  for (const [rack, hosts] of groups()) {
    const boxes = make('div', { class: 'hosts' });
    for (const { host, all } of hosts) {
      const h = state.hosts[host];
      const box = make('div', { class: 'host' + (h.oversubscribed ? ' over' : '') + (h.state === 'lost' || h.state === 'left' ? ' gone' : ''), role: 'group', 'aria-label': `host ${h.name}, ${h.state}${h.oversubscribed ? ', oversubscribed' : ''}` },
        make('h4', {}, h.name + (h.state === 'runs' ? '' : ' · ' + h.state)));
      if (many) {
        const columns = Math.max(8, Math.min(64, Math.ceil(Math.sqrt(all.length * 2))));
        const canvas = make('canvas', { width: columns * CELL, height: Math.max(1, Math.ceil(all.length / columns)) * CELL, tabindex: 0, role: 'img' });
        canvas.all = all; canvas.columns = columns; canvas.host = host;
        all.forEach((p, i) => { cells[p] = { canvas, x: i % columns * CELL, y: Math.floor(i / columns) * CELL }; });
        box.append(canvas);
      } else {
        box.append(make('div', { class: 'cells' }, ...all.map(p => cells[p] = make('button', { class: 'cell', type: 'button', 'data-process': p, tabindex: -1 }, short(p)))));
      }
      boxes.append(box);
    }
    racks.append(make('div', { class: 'rack' + (rack ? '' : ' none') }, ...(rack ? [make('h3', {}, 'rack ' + rack)] : []), boxes));
  }
  $('grid').replaceChildren(racks);
  painted = new Map();
  if (!many) {
    const first = cells[selected >= 0 ? selected : cells.findIndex(Boolean)];
    if (first) first.tabIndex = 0;
    if (focused !== undefined && cells[focused]) { cells[focused].tabIndex = 0; cells[focused].focus(); }
  }
}

let painted = new Map(); // by process: how it was painted last

function paint(is) {
  for (const canvas of $('grid').querySelectorAll('canvas')) {
    const c = canvas.getContext('2d'), count = {};
    canvas.all.forEach((p, i) => {
      const s = slots[p].state, x = i % canvas.columns * CELL, y = Math.floor(i / canvas.columns) * CELL, faint = is && !is(p);
      count[s] = (count[s] || 0) + 1;
      const key = s + (faint ? ' faint' : '') + (p === selected ? ' selected' : '');
      if (painted.get(p) === key) return;
      painted.set(p, key);
      c.globalAlpha = 1;
      c.clearRect(x - 1, y - 1, CELL + 1, CELL + 1);
      c.globalAlpha = faint ? .18 : 1;
      c.fillStyle = colours[s] || '#888';
      c.fillRect(x, y, CELL - 1, CELL - 1);
      if (s === 'dead') { c.fillStyle = colours.paper; c.fillRect(x + 2, y + 4, CELL - 5, 2); } // not by colour alone
      if (s === 'healing') { c.fillStyle = colours.paper; c.fillRect(x + 2, y + 4, CELL - 5, 2); c.fillRect(x + 4, y + 2, 2, CELL - 5); }
      if (p === selected) { c.globalAlpha = 1; c.strokeStyle = colours.mark; c.lineWidth = 2; c.strokeRect(x + 1, y + 1, CELL - 3, CELL - 3); }
    });
    c.globalAlpha = 1;
    const text = `host ${hostName(canvas.host)}: ` + Object.entries(count).map(([s, n]) => n + ' ' + s).join(', ');
    if (canvas.getAttribute('aria-label') !== text) canvas.setAttribute('aria-label', text);
  }
}

function drawDetail() {
  const c = slots[selected], s = state.processes[selected], box = $('detail');
  if (!c || !s) { if (box.firstChild) box.replaceChildren(); return; }
  const rows = [['process', `${nameOf(selected)} (process ${selected}, pid ${s.pid} on ${hostName(c.host)})`], ['state', c.state + (shown === null ? ' for ' + time(Math.max(0, state.at_s - s.since_s)) : '')]];
  if ((state.hosts[c.host] || {}).oversubscribed) rows.push(['host', 'oversubscribed: more processes run there than it has cores']);
  if (c.incarnation) rows.push(['incarnation', c.incarnation]);
  const n = shown === null && s.counters;
  if (n) {
    rows.push(['messages', `${amount(n.sent)} sent`], ['bytes', amount(n.bytes, 'B')], ['unexpected', n.unexpected],
      ['retained', `${n.retained} (${amount(n.retained_bytes, 'B')})`], ['safe points', n.safepoints + (n.safepoints_expected ? ' of ' + n.safepoints_expected : '')], ['late heartbeats', n.late_heartbeats || 0]);
    if (n.waits) rows.push(['waits', n.waits + ', since ' + time(n.waits_since_s)]);
    if (n.silence_s) rows.push(['silent for', time(n.silence_s)]);
  }
  const text = JSON.stringify(rows) + mayAsk();
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  box.replaceChildren(make('table', {}, make('tbody', {}, ...rows.map(([a, b]) => make('tr', {}, make('th', { scope: 'row' }, a), make('td', {}, String(b)))))));
  if (mayAsk() && ['live', 'silent', 'donor'].includes(c.state)) {
    box.append(make('button', { type: 'button', 'data-action': 'kill', 'data-process': selected }, `Kill ${nameOf(selected)}`));
  }
}

const LOUD = { death: 'dead', 'host lost': 'dead', 'rank lost': 'dead', healed: 'live', healing: 'healing', 'heal failed': 'failed', rollback: 'fenced', launcher: 'mark', snapshot: 'donor', view: 'starting', end: 'mark' };
const LOUDER = ['view', 'healing', 'healed', 'heal failed', 'death', 'host lost', 'rank lost']; // the last lie on top
let eventsKey = '';

function drawTimeline() {
  const scrub = $('scrub'), end = Math.max(state.at_s, 0.001);
  scrub.max = end;
  if (shown === null || document.activeElement !== scrub) scrub.value = now();
  scrub.setAttribute('aria-valuetext', time(now()) + (shown === null ? ', live' : ''));
  $('live').setAttribute('aria-pressed', shown === null);
  $('live').textContent = state.over ? 'End' : 'Live';
  $('clock').textContent = time(now());
  if (changed.events || !loud) loud = state.events.filter(e => LOUD[e.kind]).sort((a, b) => LOUDER.indexOf(a.kind) - LOUDER.indexOf(b.kind));
  let track = $('track').firstChild;
  if (!track) $('track').append(track = make('canvas', { height: 44 }));
  const width = Math.max(300, $('track').clientWidth * 2);
  const seen = [loud.length, width, Math.round(end * 2), shown].join(); // a mark moves too little to see meanwhile
  if (seen !== trackKey) { trackKey = seen; drawTrack(track, width, end); }
  if (!changed.events && shown === shownBefore) return;
  shownBefore = shown;
  drawEvents();
}

let loud = null, trackKey = '', shownBefore = null;

function drawTrack(track, width, end) {
  track.width = width;
  const c = track.getContext('2d');
  for (const e of loud) {
    const colour = LOUD[e.kind];
    c.fillStyle = colours[colour] || '#888';
    c.fillRect(Math.min(width - 4, e.at_s / end * width), e.kind === 'view' || e.kind === 'snapshot' ? 30 : 6, 4, e.kind === 'view' || e.kind === 'snapshot' ? 12 : 34);
  }
  c.fillStyle = colours.mark;
  c.fillRect(Math.min(width - 3, now() / end * width), 0, 3, 44);
}

function drawEvents() {
  const list = state.events.filter(e => e.kind !== 'change').slice(-200).reverse();
  const key = (list[0] ? list[0].number : 0) + ' ' + shown;
  if (key === eventsKey) return;
  eventsKey = key;
  $('events').tBodies[0].replaceChildren(...list.map(e => {
    const go = make('button', { type: 'button', 'data-at': e.at_s, 'aria-label': 'show the job at ' + time(e.at_s) }, time(e.at_s));
    return make('tr', { class: e.at_s > now() ? 'later' : null, 'data-kind': e.kind }, make('td', {}, go), make('td', {}, e.kind), make('td', {}, e.text || '', ...traceLinks(e)));
  }));
}

// traceLinks are where a trace can be had. The launcher's host has it.
function traceLinks(e) {
  const at = (state.addresses || []).find(a => a.host === 'the launcher');
  if (!live || e.kind !== 'trace' || !e.file || !at) return [];
  const base = at.url.startsWith('http') ? at.url : from, query = `?number=${e.number}` + (token ? '&token=' + encodeURIComponent(token) : '');
  return [' ', make('a', { href: base + 'api/trace' + query, download: `trace-${e.number}.json` }, 'for Perfetto'), ', ',
    make('a', { href: base + 'api/trace' + query + '&format=jsonl', download: `trace-${e.number}.jsonl` }, 'as recorded')];
}

function drawRates() {
  $('rates').hidden = !state.counting;
  for (const what of ['messages', 'bytes']) {
    const list = state.rates, top = Math.max(1, ...list.map(r => r[what]));
    const from = list.length ? list[0].at_s : 0, span = Math.max(1e-6, (list.length ? list[list.length - 1].at_s : 1) - from);
    const path = list.map((r, i) => (i ? 'L' : 'M') + ((r.at_s - from) / span * 600).toFixed(1) + ' ' + (78 - r[what] / top * 74).toFixed(1)).join('');
    const svg = $(what);
    if (!svg.firstChild) svg.append(make('path'));
    svg.firstChild.setAttribute('d', path);
    const last = list.length ? list[list.length - 1][what] : 0;
    $('c-' + what).textContent = `${what} a second: ${amount(last)} now, ${amount(top)} at most`;
  }
}

function drawWaits() {
  $('waiting').hidden = !state.counting;
  if (!state.counting || shown !== null) return;
  const all = state.processes.map((s, p) => [p, s.counters]).filter(([p, c]) => c && c.waits && ['live', 'silent', 'donor'].includes(state.processes[p].state));
  all.sort((a, b) => a[1].waits_since_s - b[1].waits_since_s);
  const rows = all.slice(0, 50).map(([p, c]) => make('tr', { class: (state.circle || []).includes(state.processes[p].rank) ? 'stuck' : null },
    make('th', { scope: 'row' }, nameOf(p)), make('td', {}, time(Math.max(0, state.at_s - c.waits_since_s))), make('td', {}, c.waits)));
  $('waits').tBodies[0].replaceChildren(...rows);
  const circle = state.circle || [], key = circle.join();
  if ($('circle').dataset.key === key) return;
  $('circle').dataset.key = key;
  if (!circle.length) return $('circle').replaceChildren();
  const few = circle.slice(0, 24), at = i => { const a = 2 * Math.PI * i / few.length - Math.PI / 2; return [200 + 140 * Math.cos(a), 180 + 140 * Math.sin(a)]; };
  const text = circle.map(r => 'rank ' + r).concat('rank ' + circle[0]).join(' waits for ');
  const svg = make('svg', { viewBox: '0 0 400 360', role: 'img', 'aria-label': text });
  svg.append(make('defs', {}, make('marker', { id: 'arrow', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto' }, make('path', { d: 'M0 0L10 5L0 10z', fill: 'var(--dead)' }))));
  const radius = Math.min(21, 140 * Math.sin(Math.PI / few.length) * .68);
  few.forEach((r, i) => {
    if (i === few.length - 1 && few.length < circle.length) return;
    const [x, y] = at(i), [u, v] = at((i + 1) % few.length), d = Math.hypot(u - x, v - y) || 1, k = (radius + 2) / d;
    const bend = few.length === 2 ? 8 * (i ? -1 : 1) : 0; // two arrows don't lie on each other
    svg.append(make('line', { x1: x + (u - x) * k + bend, y1: y + (v - y) * k, x2: u - (u - x) * k + bend, y2: v - (v - y) * k, 'marker-end': 'url(#arrow)' }));
  });
  few.forEach((r, i) => { const [x, y] = at(i); svg.append(make('circle', { cx: x, cy: y, r: radius }), make('text', { x, y }, String(r))); });
  $('circle').replaceChildren(make('p', {}, `These ranks wait for each other: ${text}.`), svg);
}

let hostsKey = '';

function drawHosts() {
  const key = JSON.stringify(state.hosts) + mayAsk() + state.counting;
  if (key === hostsKey) return;
  hostsKey = key;
  $('heal').hidden = !mayAsk() || !state.job.heal;
  $('trace').hidden = !mayAsk() || !state.counting;
  $('hosts').tBodies[0].replaceChildren(...state.hosts.map((h, i) => make('tr', { 'data-host': h.name }, make('th', { scope: 'row' }, h.name), make('td', {}, h.rack || ''),
    make('td', {}, h.state + (h.oversubscribed ? ', oversubscribed' : '')), make('td', {}, String(h.processes)), make('td', {}, String(h.cores)), make('td', {}, String(h.alone || 0)),
    ...(mayAsk() && state.hosts.length > 1 && (h.state === 'runs' || h.state === 'waits') ? [make('td', {}, make('button', { type: 'button', 'data-action': 'drain', 'data-host': i }, 'Drain'))] : []))));
}

let pagesKey = '';

function drawPages() {
  const all = live ? state.addresses || [] : [], key = JSON.stringify(all);
  if (key === pagesKey) return;
  pagesKey = key;
  $('pages').replaceChildren(...(all.length < 2 ? [] : ['The page is on ', ...all.flatMap((a, i) => [i ? ', ' : '',
    a.url.startsWith('http') ? make('a', { href: a.url + (token ? '?token=' + encodeURIComponent(token) : ''), 'data-host': a.host }, a.host) : `${a.host} (${a.url})`])]));
}
