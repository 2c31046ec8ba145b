// The page of a job: it shows a state (package status), as it goes or as it was at another time. It
// knows nothing of what events mean: each says which slots it sets.
'use strict';
(() => {
const $ = id => document.getElementById(id);
const make = (tag, attributes = {}, ...inside) => {
  const e = document.createElementNS(['svg', 'path', 'circle', 'line', 'text', 'marker', 'defs', 'title'].includes(tag) ? 'http://www.w3.org/2000/svg' : 'http://www.w3.org/1999/xhtml', tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null) e.setAttribute(name, value);
  e.append(...inside);
  return e;
};
const STATES = ['starting', 'live', 'silent', 'fenced', 'dead', 'healing', 'donor', 'finished', 'failed'];
const CANVAS_FROM = 400; // processes: so many buttons are slow, and can't be told apart
const CELL = 11; // pixels of a process on a canvas

let state = null;     // the status.State
let shown = null;     // the time that is shown; null: now
let selected = -1;    // a process
let slots = [];       // at the time that is shown: {state, host, incarnation}
let dirty = false;
let frames = 0;       // drawn so far, for tests
let cells = [];       // by process: a button, or its place on a canvas
let layoutKey = '';
let colours = {};

// ---- words and numbers

const plural = (n, word) => n + ' ' + word + (n === 1 ? '' : word.endsWith('s') ? 'es' : 's');
function amount(n, unit = '') {
  const steps = ['', 'k', 'M', 'G', 'T', 'P'];
  let i = 0;
  while (n >= 10000 && i < steps.length - 1) { n /= 1000; i++; }
  return (n >= 100 || Number.isInteger(n) ? Math.round(n) : n.toFixed(1)) + (i || unit ? ' ' : '') + steps[i] + unit;
}
function time(s) {
  if (s < 60) return s.toFixed(s < 10 ? 2 : 1) + ' s';
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return (h ? h + ' h ' : '') + m + ' min ' + Math.floor(s % 60) + ' s';
}
const nameOf = p => { const s = state.processes[p]; return s.replica || state.job.replicas > 1 ? `rank ${s.rank} replica ${s.replica}` : `rank ${s.rank}`; };
const short = p => { const s = state.processes[p]; return state.job.replicas > 1 ? `${s.rank}.${s.replica}` : `${s.rank}`; };
const hostName = h => (state.hosts[h] || { name: '?' }).name;

// ---- the state at a time

function slotsAt(t) {
  const all = [];
  const set = c => { all[c.process] = c; };
  state.base.forEach(set);
  for (const e of state.events) {
    if (e.at_s > t) break;
    (e.set || []).forEach(set);
  }
  return all;
}

function now() { return shown === null ? state.at_s : shown; }

// ---- what comes

function take(whole) {
  state = whole;
  for (const list of ['hosts', 'processes', 'rates', 'base', 'events']) state[list] = state[list] || [];
  layoutKey = '';
  $('name').textContent = state.job.name || 'banyan';
  document.title = (state.job.name || 'job') + ' · banyan';
  $('command').textContent = (state.job.command || []).join(' ');
  redraw();
}

function takeNews(n) {
  for (const e of n.events) {
    const last = state.events[state.events.length - 1];
    if (last && e.number <= last.number) continue;
    state.events.push(e);
    for (const c of e.set || []) {
      const s = state.processes[c.process] || (state.processes[c.process] = { rank: -1, replica: 0 });
      if (s.incarnation !== (c.incarnation || 0)) s.counters = null;
      Object.assign(s, { state: c.state, host: c.host, incarnation: c.incarnation || 0, since_s: e.at_s });
      if (n.pids && n.pids[c.process]) s.pid = n.pids[c.process];
    }
  }
  if (n.addresses) state.addresses = n.addresses;
  Object.assign(state, { old: false, at_s: n.at_s, hosts: n.hosts, view: n.view, members: n.members, survives: n.survives, totals: n.totals, over: n.over || null });
  redraw();
}

function takeSample(x) {
  Object.assign(state, { old: false, at_s: x.at_s, totals: x.totals, survives: x.survives, circle: x.circle || [], counting: true });
  for (const [p, c] of Object.entries(x.counters)) if (state.processes[p]) state.processes[p].counters = c;
  if (x.rate) { state.rates.push(x.rate); if (state.rates.length > 900) state.rates.shift(); }
  redraw();
}

function redraw() {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(() => { dirty = false; if (state) draw(); });
}

// ---- drawing

function draw() {
  frames++;
  slots = shown === null ? state.processes : slotsAt(shown);
  const style = getComputedStyle(document.documentElement);
  for (const s of STATES.concat('mark', 'paper')) colours[s] = style.getPropertyValue('--' + s).trim();
  drawCards(); drawGrid(); drawDetail(); drawTimeline(); drawRates(); drawWaits(); drawHosts(); drawPages();
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
    ['unexpected', amount(t.unexpected)], ['retained', amount(t.retained_bytes, 'B')], ['safe points', amount(t.safepoints)], ['waiting', t.waiting]);
  cards.push(['time', time(state.at_s)]);
  const list = $('cards');
  if (list.children.length !== cards.length) list.replaceChildren(...cards.map(() => make('div', {}, make('dt'), make('dd'))));
  cards.forEach(([name, value], i) => {
    const [dt, dd] = list.children[i].children;
    if (dt.textContent !== name) dt.textContent = name;
    if (dd.textContent !== String(value)) dd.textContent = value;
  });
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
      const box = make('div', { class: 'host' + (h.oversubscribed ? ' over' : '') + (h.state === 'lost' || h.state === 'left' ? ' gone' : ''), role: 'group', 'aria-label': `host ${h.name}, ${h.state}` },
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
  if (!many) {
    const first = cells[selected >= 0 ? selected : cells.findIndex(Boolean)];
    if (first) first.tabIndex = 0;
    if (focused !== undefined && cells[focused]) { cells[focused].tabIndex = 0; cells[focused].focus(); }
  }
}

function paint(is) {
  for (const canvas of $('grid').querySelectorAll('canvas')) {
    const c = canvas.getContext('2d'), count = {};
    c.clearRect(0, 0, canvas.width, canvas.height);
    canvas.all.forEach((p, i) => {
      const s = slots[p].state, x = i % canvas.columns * CELL, y = Math.floor(i / canvas.columns) * CELL;
      count[s] = (count[s] || 0) + 1;
      c.globalAlpha = is && !is(p) ? .18 : 1;
      c.fillStyle = colours[s] || '#888';
      c.fillRect(x, y, CELL - 1, CELL - 1);
      if (s === 'dead') { c.fillStyle = colours.paper; c.fillRect(x + 2, y + 4, CELL - 5, 2); } // not by colour alone
      if (s === 'healing') { c.fillStyle = colours.paper; c.fillRect(x + 2, y + 4, CELL - 5, 2); c.fillRect(x + 4, y + 2, 2, CELL - 5); }
      if (p === selected) { c.globalAlpha = 1; c.strokeStyle = colours.mark; c.lineWidth = 2; c.strokeRect(x, y, CELL - 1, CELL - 1); }
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
  if (c.incarnation) rows.push(['incarnation', c.incarnation]);
  const n = shown === null && s.counters;
  if (n) {
    rows.push(['messages', `${amount(n.sent)} sent`], ['bytes', amount(n.bytes, 'B')], ['unexpected', n.unexpected],
      ['retained', `${n.retained} (${amount(n.retained_bytes, 'B')})`], ['safe points', n.safepoints]);
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

// ---- buttons, where the operator allows them

const mayAsk = () => live && state && state.job.control && !state.over && !state.old && shown === null;

async function ask(what) {
  if (!confirm(what.question)) return;
  let text;
  try {
    const r = await fetch(from + 'api/control' + (token ? '?token=' + encodeURIComponent(token) : ''), { method: 'POST', body: JSON.stringify(what.request) });
    const a = await r.json();
    text = a.said || a.error;
  } catch (e) { text = 'the page can\'t reach the job: ' + e.message; }
  $('said').textContent = text;
}

document.addEventListener('click', e => {
  const b = e.target.closest && e.target.closest('button[data-action]');
  if (!b) return;
  const p = +b.dataset.process, h = +b.dataset.host;
  ask({
    kill: () => ({ question: `Kill ${nameOf(p)}?`, request: { action: 'kill', process: p } }),
    heal: () => ({ question: 'Try again to replace processes that stay dead?', request: { action: 'heal' } }),
    drain: () => ({ question: `Drain host ${hostName(h)}?`, request: { action: 'drain', host: h } }),
  }[b.dataset.action]());
});

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
  let track = $('track').firstChild;
  if (!track) $('track').append(track = make('canvas', { height: 44 }));
  const width = Math.max(300, $('track').clientWidth * 2);
  track.width = width;
  const c = track.getContext('2d');
  for (const e of [...state.events].sort((a, b) => LOUDER.indexOf(a.kind) - LOUDER.indexOf(b.kind))) {
    const colour = LOUD[e.kind];
    if (!colour) continue;
    c.fillStyle = colours[colour] || '#888';
    c.fillRect(Math.min(width - 4, e.at_s / end * width), e.kind === 'view' || e.kind === 'snapshot' ? 30 : 6, 4, e.kind === 'view' || e.kind === 'snapshot' ? 12 : 34);
  }
  c.fillStyle = colours.mark;
  c.fillRect(Math.min(width - 3, now() / end * width), 0, 3, 44);
  const list = state.events.filter(e => e.kind !== 'change').slice(-200).reverse();
  const key = (list[0] ? list[0].number : 0) + ' ' + shown;
  if (key === eventsKey) return;
  eventsKey = key;
  $('events').tBodies[0].replaceChildren(...list.map(e => {
    const go = make('button', { type: 'button', 'data-at': e.at_s, 'aria-label': 'show the job at ' + time(e.at_s) }, time(e.at_s));
    return make('tr', { class: e.at_s > now() ? 'later' : null, 'data-kind': e.kind }, make('td', {}, go), make('td', {}, e.kind), make('td', {}, e.text || ''));
  }));
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
  const key = JSON.stringify(state.hosts) + mayAsk();
  if (key === hostsKey) return;
  hostsKey = key;
  $('heal').hidden = !mayAsk() || !state.job.heal;
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

// ---- what the user does

function select(p, focus) {
  if (p < 0 || p >= state.processes.length) return;
  if (cells[selected] && cells[selected].tagName) cells[selected].tabIndex = -1;
  selected = p;
  const c = cells[p];
  if (c && c.tagName) { c.tabIndex = 0; if (focus) c.focus(); } else if (c && focus) c.canvas.focus();
  redraw();
}

function moved(key, order, at, columns) {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -at, End: order.length - 1 - at }[key];
  return step === undefined ? undefined : order[Math.max(0, Math.min(order.length - 1, at + step))];
}

$('grid').addEventListener('keydown', e => {
  if (e.target.dataset.action) return;
  const button = e.target.dataset.process, canvas = e.target.tagName === 'CANVAS' ? e.target : null;
  let order, at, columns;
  if (canvas) {
    order = canvas.all; at = Math.max(0, order.indexOf(selected)); columns = canvas.columns;
  } else if (button !== undefined) {
    order = [...$('grid').querySelectorAll('.cell')].map(b => +b.dataset.process); at = order.indexOf(+button);
    const top = e.target.offsetTop, all = order.map(p => cells[p]);
    columns = Math.max(1, all.filter(b => b.parentNode === e.target.parentNode && b.offsetTop === top).length);
  } else return;
  const to = moved(e.key, order, at, columns);
  if (to !== undefined) { e.preventDefault(); select(to, true); }
});
$('grid').addEventListener('click', e => {
  if (e.target.dataset.process !== undefined) return select(+e.target.dataset.process, false);
  if (e.target.tagName !== 'CANVAS') return;
  const box = e.target.getBoundingClientRect();
  const x = Math.floor((e.clientX - box.left) / CELL), y = Math.floor((e.clientY - box.top) / CELL), p = e.target.all[y * e.target.columns + x];
  if (p !== undefined && x < e.target.columns) select(p, false);
});
$('filter').addEventListener('input', () => { const l = layoutKey; redraw(); layoutKey = l; });
function goTo(t) { shown = t === null || t >= state.at_s ? null : Math.max(0, t); redraw(); }
$('scrub').addEventListener('input', e => goTo(+e.target.value));
$('live').addEventListener('click', () => goTo(null));
$('events').addEventListener('click', e => { if (e.target.dataset.at) goTo(+e.target.dataset.at + 0.000001); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
$('legend').append(...STATES.map(s => make('span', {}, make('i', { class: s }), s)));

// ---- where it comes from

function say(text, off) {
  const h = $('how');
  if (h.textContent !== text) h.textContent = text;
  h.className = off ? 'off' : '';
}

const here = new URL('.', location.href).href, token = new URLSearchParams(location.search).get('token');
const data = $('data').textContent.trim(), live = !data;
let from = here, heard = 0, opened = false, source = null, place = 0;

// places are where the job can be watched: here, and where others show it.
function places() {
  const all = [here];
  for (const a of (state && state.addresses) || []) {
    if (a.url.startsWith('http') && !all.includes(a.url)) all.push(a.url);
  }
  return all;
}

function connect() {
  const base = places()[place % places().length];
  source = new EventSource(base + 'api/events' + (token ? '?token=' + encodeURIComponent(token) : ''));
  from = base;
  heard = Date.now();
  opened = false;
  const on = (kind, take) => source.addEventListener(kind, e => {
    heard = Date.now();
    opened = true;
    take(JSON.parse(e.data));
    if (state && !state.over) say((state.old ? 'old: the launcher is not heard' : 'live') + (base === here ? '' : ', from ' + base), state.old);
    if (state && state.over) { source.close(); source = null; say('over: this is how it was'); }
  });
  on('state', take); on('news', n => state && takeNews(n)); on('sample', x => state && takeSample(x)); on('alive', () => {});
  on('old', () => { if (state) { state.old = true; redraw(); } });
  source.onerror = () => lost();
}

function lost() {
  if (!source) return;
  source.close();
  source = null;
  say('the connection is lost: trying again', true);
  place++;
  setTimeout(connect, 1000);
}

setInterval(() => { if (source && Date.now() - heard > (opened ? 12000 : 4000)) lost(); }, 1000); // a host without power refuses nothing

if (data) { take(JSON.parse(data)); say(state.over ? 'a report: the job is over' : 'a report'); } else connect();
})();
