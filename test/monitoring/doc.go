// Package monitoring holds the alerts, the alarms and the dashboard to the metrics that there are.
package monitoring
