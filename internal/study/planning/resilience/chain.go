package resilience

// A chain is the number of live replicas of one rank over time, from all of them down to 0, where
// it stays. Each live one dies at the rate 1/M; each dead one is replaced at the rate 1/heal, as
// long as one lives.
//
// Its transition probabilities are known at the times step·2^j. All numbers are sums and
// products of such that aren't negative, so that even a probability of 10^-30 of being
// lost keeps its digits.
type chain struct {
	replicas int
	powers   []matrix // [j]: of step·2^j
}

// matrix has, in row i and column k, the probability that k replicas live after some time if
// i do now.
type matrix [MaxDegree + 1]vector

// vector has the probability of each number of live replicas.
type vector [MaxDegree + 1]float64

// terms of the exponential series are enough for a step in which at most half an
// event is expected: those beyond add less than 10^-16 of the first that isn't 0.
const terms = MaxDegree + 20

// newChain begins with a time of at most the given one.
// death and repair are rates of one replica.
func newChain(replicas int, death, repair, step float64) *chain {
	c := &chain{replicas: replicas}
	// The rates out of a state, below total in each. Uniformised: events come at the
	// rate total, and those that a state hasn't leave it as it is.
	total := float64(replicas) * max(death, repair)
	var event matrix
	event[0][0] = 1
	for k := 1; k <= replicas; k++ {
		down, up := float64(k)*death/total, float64(replicas-k)*repair/total
		event[k][k-1] = down
		if k < replicas {
			event[k][k+1] = up
		}
		event[k][k] = max(0, 1-down-up)
	}
	mean := step * total
	var sum, power matrix // of event
	for i := range replicas + 1 {
		power[i][i] = 1
	}
	weight := 1.0 // of a Poisson distribution, but for a factor that scaling takes away
	for j := range terms {
		for i := range replicas + 1 {
			for k := range replicas + 1 {
				sum[i][k] += weight * power[i][k]
			}
		}
		power = c.multiply(&power, &event)
		weight *= mean / float64(j+1)
	}
	c.scale(&sum)
	c.powers = append(c.powers, sum)
	return c
}

// longestStep is the longest time with which a chain may begin.
func longestStep(replicas int, death, repair float64) float64 {
	return 0.5 / (float64(replicas) * max(death, repair))
}

// after is the matrix of the time step·2^j.
func (c *chain) after(j int) *matrix {
	for len(c.powers) <= j {
		last := &c.powers[len(c.powers)-1]
		next := c.multiply(last, last)
		c.scale(&next)
		c.powers = append(c.powers, next)
	}
	return &c.powers[j]
}

// begin is the state of a rank all of whose replicas live, after step·2^j.
func (c *chain) begin(j int) vector { return c.after(j)[c.replicas] }

// advance moves a state on by step·2^j.
func (c *chain) advance(v *vector, j int) {
	m := c.after(j)
	var next vector
	for i := range c.replicas + 1 {
		for k := range c.replicas + 1 {
			next[k] += v[i] * m[i][k]
		}
	}
	*v = next
}

func (c *chain) multiply(a, b *matrix) matrix {
	var product matrix
	for i := range c.replicas + 1 {
		for j := range c.replicas + 1 {
			for k := range c.replicas + 1 {
				product[i][k] += a[i][j] * b[j][k]
			}
		}
	}
	return product
}

// scale makes the sum of each row 1. Otherwise each squaring would double what
// rounding has added to it or taken away.
func (c *chain) scale(m *matrix) {
	for i := range c.replicas + 1 {
		sum := 0.0
		for k := range c.replicas + 1 {
			sum += m[i][k]
		}
		for k := range c.replicas + 1 {
			m[i][k] /= sum
		}
	}
}

// alive is the expected number of live replicas.
func (v *vector) alive() float64 {
	sum := 0.0
	for k, p := range v {
		sum += float64(k) * p
	}
	return sum
}
