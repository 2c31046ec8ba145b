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
const MOST_EVENTS = 4096;

let state = null;     // the status.State
let shown = null;     // the time that is shown; null: now
let selected = -1;    // a process
let slots = [];       // at the time that is shown: {state, host, incarnation}
let dirty = false;
let frames = 0;       // drawn so far, for tests
let cells = [];       // by process: a button, or its place on a canvas
let layoutKey = '';
let colours = null;   // by state; null: the scheme has changed
let changed = {};     // since the last picture: events, sample

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
  changed = { events: true, sample: true };
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
    changed.events = true;
    for (const c of e.set || []) {
      const s = state.processes[c.process] || (state.processes[c.process] = { rank: -1, replica: 0 });
      if (s.incarnation !== (c.incarnation || 0)) s.counters = null;
      Object.assign(s, { state: c.state, host: c.host, incarnation: c.incarnation || 0, since_s: e.at_s });
      if (n.pids && n.pids[c.process]) s.pid = n.pids[c.process];
    }
  }
  if (state.events.length > MOST_EVENTS) forget();
  if (n.addresses) state.addresses = n.addresses;
  Object.assign(state, { old: false, at_s: n.at_s, hosts: n.hosts, view: n.view, members: n.members, survives: n.survives, totals: n.totals, over: n.over || null });
  redraw();
}

// forget folds the first events into the base, as the launcher does.
function forget() {
  const slots = [];
  state.base.forEach(c => { slots[c.process] = c; });
  for (const e of state.events.splice(0, MOST_EVENTS / 4)) (e.set || []).forEach(c => { slots[c.process] = c; });
  state.base = slots.filter(Boolean);
}

function takeSample(x) {
  changed.sample = true;
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

/*DRAW*/

// ---- buttons, where the operator allows them

const mayAsk = () => live && state && state.job.control && !state.over && !state.old && shown === null;

async function ask(what) {
  if (what.question && !confirm(what.question)) return;
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
    trace: () => ({ request: { action: 'trace' } }),
    drain: () => ({ question: `Drain host ${hostName(h)}?`, request: { action: 'drain', host: h } }),
  }[b.dataset.action]());
});

// ---- what the user does

function select(p, focus) {
  if (p < 0 || p >= state.processes.length) return;
  for (const b of $('grid').querySelectorAll('.cell[tabindex="0"]')) b.tabIndex = -1; // Tab stops at one
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
function goTo(t) { shown = t === null || t >= state.at_s ? null : Math.max(0, t); changed.sample = true; redraw(); }
$('scrub').addEventListener('input', e => goTo(+e.target.value));
$('live').addEventListener('click', () => goTo(null));
$('events').addEventListener('click', e => { if (e.target.dataset.at) goTo(+e.target.dataset.at + 0.000001); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { colours = null; redraw(); });
$('legend').append(...STATES.map(s => make('span', {}, make('i', { class: s }), s)), make('span', {}, make('i', { class: 'over' }), 'oversubscribed host'));

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
    if (state && state.over) { source.close(); source = null; requestAnimationFrame(() => say('over: this is how it was')); } // once it is drawn
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
